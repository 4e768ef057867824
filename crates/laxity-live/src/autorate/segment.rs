//! Time stamps of TCP in frames.

use std::hash::{DefaultHasher, Hash, Hasher};

use laxity_forward::layers::{Layers, Transport};

/// The time stamps of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamps {
    /// A hash of the connection, the same in both directions.
    pub key: u64,
    pub value: u32,
    pub echo: u32,
    /// Whether it carries data or opens or closes the connection: its receiver answers then.
    pub has_data: bool,
}

/// The length of a header of TCP without options.
const PLAIN: usize = 20;
const END: u8 = 0;
const NOTHING: u8 = 1;
const TIMESTAMPS: u8 = 8;
const TIMESTAMPS_LENGTH: u8 = 10;
/// FIN and SYN.
const EDGES: u8 = 0b11;
const ACK: u8 = 0b1_0000;

/// The time stamps of a frame (RFC 7323, section 3.2), if it holds a segment that has them.
pub(super) fn stamps(frame: &[u8]) -> Option<Stamps> {
    let layers = Layers::new(frame);
    if layers.transport != Transport::Tcp {
        return None;
    }
    let header = frame.get(layers.transport_at..layers.payload)?;
    let flags = *header.get(13)?;
    let mut options = header.get(PLAIN..)?;
    let (value, echo) = loop {
        match *options.first()? {
            END => return None,
            NOTHING => options = &options[1..],
            kind => {
                let length = *options.get(1)?;
                let option = options.get(..usize::from(length)).filter(|_| length >= 2)?;
                if kind == TIMESTAMPS && length == TIMESTAMPS_LENGTH {
                    let (value, echo) = option[2..].split_first_chunk::<4>()?;
                    break (u32::from_be_bytes(*value), u32::from_be_bytes(*echo.first_chunk()?));
                }
                options = &options[usize::from(length)..];
            }
        }
    };
    let has_data = layers.end > layers.payload || flags & EDGES != 0;
    // Without the acknowledgement the echo means nothing.
    let echo = if flags & ACK == 0 { 0 } else { echo };
    Some(Stamps { key: key(frame, &layers)?, value, echo, has_data })
}

/// A hash of both ends of a connection, in one order.
fn key(frame: &[u8], layers: &Layers) -> Option<u64> {
    let addresses = frame.get(layers.addresses())?;
    let (from, to) = addresses.split_at(addresses.len() / 2);
    let ports = frame.get(layers.transport_at..layers.transport_at + 4)?;
    let (from_port, to_port) = ports.split_at(2);
    let mut ends = [(from, from_port), (to, to_port)];
    ends.sort_unstable();
    let mut hasher = DefaultHasher::new();
    ends.hash(&mut hasher);
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use etherparse::{PacketBuilder, TcpOptionElement};
    use proptest::prelude::*;

    use super::*;

    fn segment(ends: [u8; 2], stamps: Option<(u32, u32)>, data: &[u8]) -> Vec<u8> {
        let [from, to] = ends;
        let mut builder = PacketBuilder::ethernet2([2; 6], [4; 6])
            .ipv4([10, 0, 0, from], [10, 0, 0, to], 64)
            .tcp(from.into(), to.into(), 7, 1000)
            .ack(5);
        if let Some((value, echo)) = stamps {
            use TcpOptionElement::{MaximumSegmentSize, Noop, Timestamp};
            let options = [MaximumSegmentSize(1460), Noop, Noop, Timestamp(value, echo)];
            builder = builder.options(&options).expect("room for them");
        }
        let mut frame = Vec::new();
        builder.write(&mut frame, data).expect("a frame");
        frame
    }

    #[test]
    fn both_directions_have_one_key() {
        let there = stamps(&segment([1, 2], Some((100, 7)), b"data")).unwrap();
        let back = stamps(&segment([2, 1], Some((8, 100)), b"")).unwrap();
        assert_eq!((there.value, there.echo, there.has_data), (100, 7, true));
        assert_eq!((back.value, back.echo, back.has_data), (8, 100, false));
        assert_eq!(there.key, back.key);
        assert_ne!(stamps(&segment([1, 3], Some((1, 1)), b"")).unwrap().key, there.key);
        assert_eq!(stamps(&segment([1, 2], None, b"data")), None);
    }

    proptest! {
        #[test]
        fn no_frame_causes_a_panic(
            cut in 0usize..80,
            place in 0usize..80,
            byte: u8,
        ) {
            let mut frame = segment([1, 2], Some((1, 2)), b"data");
            let place = place % frame.len();
            frame[place] = byte;
            frame.truncate(cut);
            let _ = stamps(&frame);
        }
    }
}
