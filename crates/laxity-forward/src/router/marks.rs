//! Marks in frames: the DS field of IP packets, and padding.

use laxity::sched::tdp::Mark;

use crate::checksum::Sum;

/// The length of padding without check sequence: that of the shortest frame of Ethernet.
pub const PADDING: usize = 60;

/// Who hears padding: the node at the other end of the cable, for bridges pass nothing on that is sent to
/// this address (IEEE 802.1Q, nearest bridge).
const NEAREST_BRIDGE: [u8; 6] = [0x01, 0x80, 0xc2, 0, 0, 0x0e];

/// The first EtherType that is for local use, and what padding has behind it.
const LOCAL: [u8; 2] = [0x88, 0xb5];
const OF_LAXITY: [u8; 4] = *b"tdp\x01";

const TAGS: [[u8; 2]; 3] = [[0x81, 0x00], [0x88, 0xa8], [0x91, 0x00]];
const ECN: u8 = 0x03;

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
pub fn of_padding(frame: &[u8]) -> Option<Mark> {
    let is_padding = frame.get(..6)? == NEAREST_BRIDGE
        && frame.get(12..14)? == LOCAL
        && frame.get(14..18)? == OF_LAXITY;
    Mark::decode(*frame.get(18)?).filter(|_| is_padding)
}

/// The mark that a packet of IP carries.
pub fn of_packet(frame: &[u8]) -> Option<Mark> {
    let at = ip(frame)?;
    let ds = match frame.get(at)? >> 4 {
        4 => *frame.get(at + 1)?,
        6 => frame.get(at)? << 4 | frame.get(at + 1)? >> 4,
        _ => return None,
    };
    Mark::decode(ds)
}

/// Writes a mark into a packet of IP, or with `None` the code point 0. The ECN bits stay, and IPv4's checksum is
/// that of what is written. Says false, and does nothing, if the frame holds no such packet.
pub fn write(frame: &mut [u8], mark: Option<Mark>) -> bool {
    let code = mark.map_or(0, Mark::encode);
    let Some(packet) = ip(frame).and_then(|at| frame.get_mut(at..)) else { return false };
    match packet.first().map(|first| first >> 4) {
        Some(4) if packet.len() >= 20 => {
            let before = [packet[0], packet[1]];
            packet[1] = code | packet[1] & ECN;
            let checksum = u16::from_be_bytes([packet[10], packet[11]]);
            let changed = Sum::changed(checksum, before, [packet[0], packet[1]]);
            packet[10..12].copy_from_slice(&changed.to_be_bytes());
            true
        }
        Some(6) if packet.len() >= 40 => {
            let class = code | (packet[1] >> 4) & ECN;
            packet[0] = 0x60 | class >> 4;
            packet[1] = class << 4 | packet[1] & 0x0f;
            true
        }
        _ => false,
    }
}

/// Where a frame's packet of IP begins.
fn ip(frame: &[u8]) -> Option<usize> {
    let mut at = 12;
    loop {
        let ether_type: [u8; 2] = *frame.get(at..)?.first_chunk()?;
        match ether_type {
            [0x08, 0x00] | [0x86, 0xdd] => return Some(at + 2),
            _ if TAGS.contains(&ether_type) => at += 4,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use etherparse::{Ipv4HeaderSlice, Ipv6HeaderSlice, PacketBuilder};
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
            let begin = PacketBuilder::ethernet2([1; 6], [2; 6]);
            let mut frame = Vec::new();
            let header = etherparse::Ipv4Header {
                source: *addresses.first_chunk().unwrap(),
                destination: *addresses.last_chunk().unwrap(),
                dscp: (ds >> 2).try_into().unwrap(),
                ecn: (ds & 3).try_into().unwrap(),
                ..Default::default()
            };
            let six = etherparse::Ipv6Header { traffic_class: ds, hop_limit: 3, ..Default::default() };
            let ip: etherparse::IpHeaders = match is_v4 {
                true => etherparse::IpHeaders::Ipv4(header, Default::default()),
                false => etherparse::IpHeaders::Ipv6(six, Default::default()),
            };
            match is_tagged {
                true => begin.single_vlan(7.try_into().unwrap()).ip(ip).udp(1, 2).write(&mut frame, &[9; 30]),
                false => begin.ip(ip).udp(1, 2).write(&mut frame, &[9; 30]),
            }.unwrap();
            let original = frame.clone();
            prop_assert_eq!(of_packet(&frame), Mark::decode(ds));
            prop_assert!(write(&mut frame, Some(mark)));
            prop_assert_eq!(of_packet(&frame), Some(mark));
            let at = if is_tagged { 18 } else { 14 };
            if is_v4 {
                let header = Ipv4HeaderSlice::from_slice(&frame[at..]).unwrap().to_header();
                prop_assert_eq!(header.header_checksum, header.calc_header_checksum());
                prop_assert_eq!(header.ecn.value(), ds & 3);
            } else {
                let header = Ipv6HeaderSlice::from_slice(&frame[at..]).unwrap().to_header();
                prop_assert_eq!(header.traffic_class, mark.encode() | ds & 3);
            }
            prop_assert!(write(&mut frame, None));
            prop_assert_eq!(of_packet(&frame), None);
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
                let _ = (of_padding(&bytes), of_packet(&bytes), write(&mut bytes, Some(mark)));
            }
        }

        #[test]
        fn padding_says_its_mark(mark in marks()) {
            let mut frame = padding(mark, [2, 0, 0, 0, 0, 1]);
            prop_assert_eq!((of_padding(&frame), of_packet(&frame)), (Some(mark), None));
            frame[13] = 0xb6;
            prop_assert_eq!(of_padding(&frame), None);
        }
    }
}
