//! Marks in frames: the DS field of IP packets, and padding.

use laxity::sched::tdp::Mark;

use crate::ds;

/// The length of padding without check sequence: that of the shortest frame of Ethernet.
pub const PADDING: usize = 60;

/// Who hears padding: the node at the other end of the cable, for bridges pass nothing on that is
/// sent to this address (IEEE 802.1Q, nearest bridge).
const NEAREST_BRIDGE: [u8; 6] = [0x01, 0x80, 0xc2, 0, 0, 0x0e];

/// The first EtherType that is for local use, and what padding has behind it.
const LOCAL: [u8; 2] = [0x88, 0xb5];
const OF_LAXITY: [u8; 4] = *b"tdp\x01";

/// Padding with this mark, from an interface of this address.
pub fn padding(mark: Mark, from: [u8; 6]) -> [u8; PADDING] {
    let mut frame = [0; PADDING];
    frame[..6].copy_from_slice(&NEAREST_BRIDGE);
    frame[6..12].copy_from_slice(&from);
    frame[12..14].copy_from_slice(&LOCAL);
    frame[14..18].copy_from_slice(&OF_LAXITY);
    frame[18] = mark.encode();
    frame
}

/// The mark of padding; `None` if the frame is none.
pub fn padding_mark(frame: &[u8]) -> Option<Mark> {
    let is_padding = frame.get(..6)? == NEAREST_BRIDGE
        && frame.get(12..14)? == LOCAL
        && frame.get(14..18)? == OF_LAXITY;
    Mark::decode(*frame.get(18)?).filter(|_| is_padding)
}

/// The mark that a packet of IP carries.
pub fn packet_mark(frame: &[u8]) -> Option<Mark> {
    Mark::decode(ds::read(frame)?)
}

/// Writes a mark into a packet of IP, or with `None` the code point 0. The ECN bits stay, and
/// IPv4's checksum is that of what is written. Says false, and does nothing, if the frame holds no
/// such packet.
pub fn write(frame: &mut [u8], mark: Option<Mark>) -> bool {
    let code = mark.map_or(0, Mark::encode);
    ds::write(frame, |ds| code | ds & ds::ECN)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marks() -> impl Strategy<Value = Mark> {
        any::<[bool; 2]>().prop_map(|[odd_frame, odd_cycle]| Mark { odd_frame, odd_cycle })
    }

    proptest! {
        #[test]
        fn a_mark_is_read_where_it_was_written(
            mark in marks(), ds: u8, is_v4: bool, is_tagged: bool, addresses: [u8; 8],
        ) {
            let mut frame = ds::tests::frame(ds, is_v4, is_tagged, addresses);
            let original = frame.clone();
            prop_assert_eq!(packet_mark(&frame), Mark::decode(ds));
            prop_assert!(write(&mut frame, Some(mark)));
            prop_assert_eq!(packet_mark(&frame), Some(mark));
            prop_assert_eq!(ds::tests::field(&frame, is_v4, is_tagged), mark.encode() | ds & 3);
            prop_assert!(write(&mut frame, None));
            prop_assert_eq!(packet_mark(&frame), None);
            if ds >> 2 == 0 {
                prop_assert_eq!(frame, original, "nothing else is touched");
            }
        }

        #[test]
        fn no_bytes_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..60), mark in marks()) {
            for begin in [[0x08, 0x00], [0x86, 0xdd], [0x81, 0x00]] {
                if let Some(place) = bytes.get_mut(12..14) {
                    place.copy_from_slice(&begin);
                }
                let _ = (padding_mark(&bytes), packet_mark(&bytes), write(&mut bytes, Some(mark)));
            }
        }

        #[test]
        fn padding_says_its_mark(mark in marks()) {
            let mut frame = padding(mark, [2, 0, 0, 0, 0, 1]);
            prop_assert_eq!((padding_mark(&frame), packet_mark(&frame)), (Some(mark), None));
            frame[13] = 0xb6;
            prop_assert_eq!(padding_mark(&frame), None);
        }
    }
}
