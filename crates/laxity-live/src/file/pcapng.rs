//! The blocks of a pcapng file (draft-ietf-opsawg-pcapng).

use laxity::units::Nanos;

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

const ETHERNET: u16 = 1;

const END_OF_OPTIONS: u16 = 0;
const COMMENT: u16 = 1;
const NAME: u16 = 2;
const RESOLUTION: u16 = 9;

/// A file begins with what wrote it and the interfaces, from 0. Times are in nanoseconds.
pub(super) fn begin<'a>(out: &mut Vec<u8>, interfaces: impl IntoIterator<Item = &'a str>) {
    block(out, SECTION_HEADER, |out| {
        out.extend(0x1A2B_3C4Du32.to_le_bytes());
        out.extend([1u16, 0].map(u16::to_le_bytes).as_flattened());
        // How long the section is need not be known.
        out.extend(u64::MAX.to_le_bytes());
    });
    for name in interfaces {
        block(out, INTERFACE, |out| {
            out.extend([ETHERNET, 0].map(u16::to_le_bytes).as_flattened());
            // Frames of any length.
            out.extend(0u32.to_le_bytes());
            option(out, NAME, name.as_bytes());
            option(out, RESOLUTION, &[9]);
            option(out, END_OF_OPTIONS, &[]);
        });
    }
}

/// A frame that was seen at an interface.
pub(super) fn packet(out: &mut Vec<u8>, interface: u32, time: Nanos, frame: &[u8], comment: &str) {
    block(out, ENHANCED_PACKET, |out| {
        let [high, low] = [time.0 >> 32, time.0 & 0xFFFF_FFFF].map(|half| half as u32);
        let length = frame.len() as u32;
        out.extend([interface, high, low, length, length].map(u32::to_le_bytes).as_flattened());
        out.extend(frame);
        pad(out, frame.len());
        option(out, COMMENT, comment.as_bytes());
        option(out, END_OF_OPTIONS, &[]);
    });
}

/// A block has its length before and behind it.
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend([kind, 0].map(u32::to_le_bytes).as_flattened());
    body(out);
    let length = (out.len() + 4 - start) as u32;
    out.extend(length.to_le_bytes());
    out[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    // No option may be longer; none here comes near.
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    out.extend([code, value.len() as u16].map(u16::to_le_bytes).as_flattened());
    out.extend(value);
    pad(out, value.len());
}

/// To a multiple of four bytes.
fn pad(out: &mut Vec<u8>, length: usize) {
    out.extend(&[0; 3][..length.next_multiple_of(4) - length]);
}
