//! The DS field of IP packets in Ethernet frames (RFC 2474): the code point, and the two bits of
//! ECN (RFC 3168, RFC 9331).

use laxity::packet::Ecn;
use laxity_plan::encapsulation::{self, Encapsulation, Inside};

use crate::checksum::Sum;

/// The bits of ECN within the field.
pub(crate) const ECN: u8 = 0x03;

/// What congestion may do with the packet that a frame holds; what is not IP is dropped.
pub fn ecn(frame: &[u8]) -> Ecn {
    encapsulation::ecn(read(frame).unwrap_or_default())
}

/// Writes into the packet that a frame holds that it met congestion, and adapts IPv4's checksum.
/// What is not IP stays as it is.
pub fn experience(frame: &mut [u8]) {
    write(frame, |ds| ds | ECN);
}

/// Clears the code point of the packet that a frame holds, and adapts IPv4's checksum. ECN stays as
/// it is, and so does what is not IP.
pub fn wash(frame: &mut [u8]) {
    write(frame, |ds| ds & ECN);
}

/// The field, of the packet that a frame holds.
pub(crate) fn read(frame: &[u8]) -> Option<u8> {
    encapsulation::ds(Encapsulation::from_ethernet(frame).packet(frame)?)
}

/// Changes the field, and IPv4's checksum is that of what is written. Says false, and does nothing,
/// if the frame holds no whole header of IP.
pub(crate) fn write(frame: &mut [u8], change: impl FnOnce(u8) -> u8) -> bool {
    let Encapsulation { at, inside: Inside::Ip, .. } = Encapsulation::from_ethernet(frame) else {
        return false;
    };
    let packet = frame.get_mut(at..).unwrap_or_default();
    match packet.first().map(|first| first >> 4) {
        Some(4) if packet.len() >= 20 => {
            let before = [packet[0], packet[1]];
            packet[1] = change(packet[1]);
            let checksum = u16::from_be_bytes([packet[10], packet[11]]);
            let changed = Sum::changed(checksum, before, [packet[0], packet[1]]);
            packet[10..12].copy_from_slice(&changed.to_be_bytes());
            true
        }
        Some(6) if packet.len() >= 40 => {
            let class = change(packet[0] << 4 | packet[1] >> 4);
            packet[0] = 0x60 | class >> 4;
            packet[1] = class << 4 | packet[1] & 0x0f;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use etherparse::{Ipv4HeaderSlice, Ipv6HeaderSlice, PacketBuilder};
    use proptest::prelude::*;

    use super::*;

    /// A frame of a datagram with this field, of either version of IP, tagged or not.
    pub(crate) fn frame(ds: u8, is_v4: bool, is_tagged: bool, addresses: [u8; 8]) -> Vec<u8> {
        let begin = PacketBuilder::ethernet2([1; 6], [2; 6]);
        let header = etherparse::Ipv4Header {
            source: *addresses.first_chunk().unwrap(),
            destination: *addresses.last_chunk().unwrap(),
            dscp: (ds >> 2).try_into().unwrap(),
            ecn: (ds & 3).try_into().unwrap(),
            ..Default::default()
        };
        let six = etherparse::Ipv6Header { traffic_class: ds, hop_limit: 3, ..Default::default() };
        let ip: etherparse::IpHeaders = if is_v4 {
            etherparse::IpHeaders::Ipv4(header, Default::default())
        } else {
            etherparse::IpHeaders::Ipv6(six, Default::default())
        };
        let mut frame = Vec::new();
        let done = if is_tagged {
            let tagged = begin.single_vlan(7.try_into().unwrap());
            tagged.ip(ip).udp(1, 2).write(&mut frame, &[9; 30])
        } else {
            begin.ip(ip).udp(1, 2).write(&mut frame, &[9; 30])
        };
        done.unwrap();
        frame
    }

    /// The field that others find in such a frame, whose checksum they find right.
    pub(crate) fn field(frame: &[u8], is_v4: bool, is_tagged: bool) -> u8 {
        let packet = &frame[if is_tagged { 18 } else { 14 }..];
        if !is_v4 {
            return Ipv6HeaderSlice::from_slice(packet).unwrap().traffic_class();
        }
        let header = Ipv4HeaderSlice::from_slice(packet).unwrap().to_header();
        assert_eq!(header.header_checksum, header.calc_header_checksum());
        header.dscp.value() << 2 | header.ecn.value()
    }

    proptest! {
        #[test]
        fn congestion_is_read_where_it_was_written(
            ds: u8, is_v4: bool, is_tagged: bool, addresses: [u8; 8],
        ) {
            let mut frame = frame(ds, is_v4, is_tagged, addresses);
            let original = frame.clone();
            let expected = [Ecn::NotCapable, Ecn::L4s, Ecn::Capable, Ecn::Experienced];
            prop_assert_eq!(ecn(&frame), expected[usize::from(ds & 3)]);
            experience(&mut frame);
            prop_assert_eq!(ecn(&frame), Ecn::Experienced);
            prop_assert_eq!(field(&frame, is_v4, is_tagged), ds | 3);
            wash(&mut frame);
            prop_assert_eq!(field(&frame, is_v4, is_tagged), 3);
            prop_assert!(write(&mut frame, |_| ds));
            prop_assert_eq!(frame, original, "nothing else is touched");
        }

        #[test]
        fn what_is_cut_short_is_left_alone(bytes in prop::collection::vec(any::<u8>(), 0..60), four: bool) {
            let mut frame = bytes;
            if let Some(ether_type) = frame.get_mut(12..14) {
                ether_type.copy_from_slice(if four { &[0x08, 0x00] } else { &[0x86, 0xdd] });
            }
            let original = frame.clone();
            ecn(&frame);
            if !write(&mut frame, |ds| ds ^ 0xff) {
                prop_assert_eq!(frame, original);
            }
        }
    }

    /// The queue of a link to a provider has frames of PPPoE and MPLS, and congestion is told of
    /// there, too.
    #[test]
    fn congestion_is_told_of_within_other_frames() {
        let pppoe = [0x88, 0x64, 0x11, 0, 0, 1, 0, 60, 0, 0x21];
        let mpls = [0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64];
        for carrier in [pppoe, mpls] {
            let plain = frame(0b10, true, false, [10, 0, 0, 1, 10, 0, 0, 2]);
            let mut carried = [&plain[..12], &carrier, &plain[14..]].concat();
            assert_eq!(ecn(&carried), Ecn::Capable);
            experience(&mut carried);
            assert_eq!(ecn(&carried), Ecn::Experienced);
            let expected = [&plain[..12], &[8, 0], &carried[12 + carrier.len()..]].concat();
            assert_eq!(field(&expected, true, false), 0b11);
        }
    }

    #[test]
    fn what_is_not_ip_is_not_capable() {
        let mut arp = [0xff; 60];
        arp[12..14].copy_from_slice(&[0x08, 0x06]);
        let original = arp;
        assert_eq!(ecn(&arp), Ecn::NotCapable);
        experience(&mut arp);
        assert_eq!(arp, original);
    }
}
