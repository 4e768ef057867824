//! Frames of 802.11, alone or behind a radio header.

use laxity_plan::encapsulation::{Encapsulation, Inside, Layer, Opaque};

use super::FrameLayers;

/// A frame that begins at byte `at`.
pub(super) fn frame(bytes: &[u8], at: usize) -> FrameLayers {
    frame_aligned(bytes, at, 1)
}

/// A frame of 802.11: control, duration, three addresses, a sequence number, and fields that the
/// control adds. The payload begins at a multiple of `align` bytes from `at`.
fn frame_aligned(bytes: &[u8], at: usize, align: usize) -> FrameLayers {
    const OF_DATA: u8 = 0b10;
    const WITHOUT_DATA: u8 = 0x40;
    const QUALITY: u8 = 0x80;
    const TO_AND_FROM: u8 = 0x03;
    const ENCRYPTED: u8 = 0x40;
    const ORDER: u8 = 0x80;
    const AGGREGATE: u8 = 0x80;

    let Some(&[kind, flags]) = bytes.get(at..).and_then(<[u8]>::first_chunk) else {
        return FrameLayers::nothing(at);
    };
    if kind >> 2 & 0b11 != OF_DATA || kind & WITHOUT_DATA != 0 {
        return FrameLayers::nothing(at);
    }
    let opaque =
        |what| FrameLayers::new(Encapsulation { tag: None, at, inside: Inside::Opaque(what) });
    if flags & ENCRYPTED != 0 {
        return opaque(Opaque::EncryptedWifi);
    }
    let is_later_fragment = bytes.get(at + 22).is_some_and(|sequence| sequence & 0x0f != 0);
    if is_later_fragment {
        return FrameLayers::nothing(at);
    }
    let mut header = 24;
    if flags & TO_AND_FROM == TO_AND_FROM {
        header += 6;
    }
    if kind & QUALITY != 0 {
        if bytes.get(at + header).is_some_and(|quality| quality & AGGREGATE != 0) {
            return opaque(Opaque::AggregatedWifi);
        }
        header += if flags & ORDER != 0 { 2 + 4 } else { 2 };
    }
    FrameLayers::from(bytes, Layer::Llc, at + header.next_multiple_of(align))
}

/// Behind a header of [radiotap](https://www.radiotap.org).
pub(super) fn radiotap(bytes: &[u8]) -> FrameLayers {
    /// Fields that are present: the time, of eight bytes, and the flags.
    const TIME: u32 = 1 << 0;
    const FLAGS: u32 = 1 << 1;
    const MORE: u32 = 1 << 31;
    const WITH_CHECKSUM: u8 = 0x10;
    const PADDED: u8 = 0x20;

    let word = |at: usize| bytes.get(at..).and_then(<[u8]>::first_chunk).copied();
    let Some([_, _, low, high]) = word(0) else { return FrameLayers::nothing(bytes.len()) };
    let length = usize::from(u16::from_le_bytes([low, high]));
    let present = word(4).map_or(0, u32::from_le_bytes);
    let mut at = 8;
    let mut more = present;
    while more & MORE != 0 && at < length {
        more = word(at).map_or(0, u32::from_le_bytes);
        at += 4;
    }
    if present & TIME != 0 {
        at = at.next_multiple_of(8) + 8;
    }
    let flags = bytes.get(at).copied().filter(|_| present & FLAGS != 0 && at < length);
    let flags = flags.unwrap_or(0);
    let layers = frame_aligned(bytes, length, if flags & PADDED != 0 { 4 } else { 1 });
    FrameLayers { trailer: if flags & WITH_CHECKSUM != 0 { 4 } else { 0 }, ..layers }
}

/// Behind a header of Prism's cards, or of AVS's, which say how long they are, each in an order of
/// its own.
pub(super) fn prism(bytes: &[u8]) -> FrameLayers {
    let word = |at: usize| bytes.get(at..).and_then(<[u8]>::first_chunk::<4>).copied();
    let Some(told) = word(4).map(u32::from_le_bytes) else {
        return FrameLayers::nothing(bytes.len());
    };
    frame(bytes, told.min(told.swap_bytes()) as usize)
}
