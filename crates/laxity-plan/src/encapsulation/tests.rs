use etherparse::PacketBuilder;
use proptest::prelude::*;

use super::*;

const ADDRESSES: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];

/// A packet of UDP from port 5000 to port 5001, of either version of IP.
fn packets() -> [Vec<u8>; 2] {
    let mut packets = [Vec::new(), Vec::new()];
    let v4 = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(5000, 5001);
    v4.write(&mut packets[0], &[0; 18]).unwrap();
    let v6 = PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(5000, 5001);
    v6.write(&mut packets[1], &[0; 18]).unwrap();
    packets
}

/// What stands between a frame's addresses and a packet of either version, and the VLAN that is in
/// it.
type Carrier = (&'static str, [Vec<u8>; 2], Option<u16>);

fn carriers() -> Vec<Carrier> {
    let types: [&[u8]; 2] = [&[0x08, 0x00], &[0x86, 0xdd]];
    let ppp: [&[u8]; 2] = [&[0x00, 0x21], &[0x00, 0x57]];
    let behind = |start: &[u8], end: [&[u8]; 2]| end.map(|end| [start, end].concat());
    let session = [0x88, 0x64, 0x11, 0x00, 0x00, 0x01, 0x00, 0x30];
    let labels = [0x00, 0x06, 0x40, 0x40, 0x00, 0x00, 0x21, 0x40];
    let snap = [0x00, 0x40, 0xaa, 0xaa, 0x03, 0x00, 0x00, 0x00];
    let none: [&[u8]; 2] = [&[], &[]];
    vec![
        ("plain", behind(&[], types), None),
        ("tagged", behind(&[0x81, 0x00, 0xe0, 0x07], types), Some(7)),
        ("tagged twice", behind(&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 7], types), Some(5)),
        ("a label", behind(&[&[0x88, 0x47], &labels[4..]].concat(), none), None),
        ("labels", behind(&[&[0x88, 0x48], &labels[..]].concat(), none), None),
        (
            "tagged labels",
            behind(&[&[0x81, 0, 0, 7, 0x88, 0x47], &labels[..]].concat(), none),
            Some(7),
        ),
        ("PPPoE", behind(&session, ppp), None),
        ("tagged PPPoE", behind(&[&[0x81, 0, 0, 7], &session[..]].concat(), ppp), Some(7)),
        ("PPPoE with a short number", behind(&session, [&[0x21], &[0x57]]), None),
        ("labels in PPPoE", behind(&[&session[..], &[0x02, 0x81], &labels].concat(), none), None),
        ("SNAP", behind(&snap, types), None),
        ("tagged SNAP", behind(&[&[0x81, 0, 0, 7], &snap[..]].concat(), types), Some(7)),
        ("LLC", behind(&[0x00, 0x40, 0x06, 0x06, 0x03], none), None),
        ("NLPID", behind(&[0, 64, 0xfe, 0xfe, 3], [&[0xcc], &[0x8e]]), None),
        ("redundancy", behind(&[0xf1, 0xc1, 0, 0, 0, 9], types), None),
        ("tagged redundancy", behind(&[0x81, 0, 0, 7, 0xf1, 0xc1, 0, 0, 0, 9], types), Some(7)),
        (
            "a backbone",
            behind(&[&[0x88, 0xa8, 0, 5, 0x88, 0xe7, 0, 0, 0, 1], &ADDRESSES[..]].concat(), types),
            Some(5),
        ),
    ]
}

/// All frames of all carriers.
fn frames() -> impl Iterator<Item = (String, Vec<u8>, Headers)> {
    carriers().into_iter().flat_map(|(name, carriers, vlan)| {
        carriers.into_iter().zip(packets()).map(move |(carrier, packet)| {
            // The outermost tag comes first.
            let pcp = vlan.map(|_| carrier[2] >> 5);
            let expected = Headers { vlan, pcp, ..Headers::from_ip(&packet) };
            let name = format!("{name}, IPv{}", packet[0] >> 4);
            // Short frames of Ethernet have bytes of padding at their end.
            (name, [&ADDRESSES[..], &carrier, &packet, &[0; 6]].concat(), expected)
        })
    })
}

#[test]
fn a_packet_is_the_same_within_all_that_links_put_before_it() {
    for (name, frame, expected) in frames() {
        assert!(expected.ports.is_some());
        assert_eq!(Headers::from_ethernet(&frame), expected, "{name}");
    }
}

#[test]
fn what_is_cut_short_has_the_headers_that_are_whole() {
    for (name, frame, whole) in frames() {
        for end in 0..frame.len() {
            let headers = Headers::from_ethernet(&frame[..end]);
            assert!(headers.vlan.is_none_or(|vlan| Some(vlan) == whole.vlan), "{name}: {end}");
            assert!(headers.ip.is_none_or(|ip| Some(ip) == whole.ip), "{name}: {end}");
            assert!(headers.ports.is_none_or(|ports| Some(ports) == whole.ports), "{name}: {end}");
        }
    }
}

#[test]
fn what_is_not_looked_into_is_named() {
    let cases: [(&[u8], Opaque); 9] = [
        (&[0x88, 0xe5, 0x2c, 0, 0, 0, 0, 1], Opaque::Macsec),
        (&[0x81, 0x00, 0x00, 0x07, 0x88, 0xe5], Opaque::Macsec),
        (&[0x22, 0xf3, 0, 0], Opaque::Trill),
        (&[0x89, 0x4f, 0, 0], Opaque::ServiceChain),
        // A control word, and addresses of Ethernet without one.
        (&[0x88, 0x47, 0, 1, 1, 64, 0, 0, 0, 0], Opaque::Pseudowire),
        (&[0x88, 0x47, 0, 1, 1, 64, 0x20, 0, 0, 0], Opaque::Pseudowire),
        (&[0x88, 0x64, 0x11, 0, 0, 1, 0, 9, 0x00, 0x2d, 0x45], Opaque::CompressedPpp),
        (&[0x88, 0x64, 0x11, 0, 0, 1, 0, 9, 0x00, 0xfd, 0x45], Opaque::CompressedPpp),
        (&[0x88, 0x64, 0x11, 0, 0, 1, 0, 9, 0x00, 0x3d, 0x45], Opaque::MultilinkPpp),
    ];
    for (carrier, expected) in cases {
        let frame = [&ADDRESSES[..], carrier].concat();
        assert_eq!(Encapsulation::from_ethernet(&frame).inside, Inside::Opaque(expected));
        assert_eq!(Headers::from_ethernet(&frame).ip, None);
    }
}

/// ARP, how a link of PPP is set up, what bridges tell one another, how a path is managed.
#[test]
fn what_holds_no_packets_is_nothing_to_name() {
    let cases: [&[u8]; 5] = [
        &[0x08, 0x06, 0, 1],
        &[0x88, 0x63, 0x11, 0x09, 0, 0, 0, 0],
        &[0x88, 0x64, 0x11, 0, 0, 1, 0, 9, 0xc0, 0x21, 0x45],
        &[0, 38, 0x42, 0x42, 0x03],
        &[0x88, 0x47, 0, 0, 0xd1, 1, 0x10, 0, 0, 7],
    ];
    for carrier in cases {
        let frame = [&ADDRESSES[..], carrier].concat();
        assert_eq!(Encapsulation::from_ethernet(&frame).inside, Inside::Other, "{carrier:x?}");
    }
}

#[test]
fn the_outer_packet_of_a_tunnel_counts() {
    let inner = &packets()[0];
    for (protocol, is_tunnel) in [(4, true), (41, true), (47, true), (137, true), (6, false)] {
        let mut packet = packets()[0][..20].to_vec();
        packet[3] = 20 + inner.len() as u8;
        packet[9] = protocol;
        packet.extend(inner);
        let headers = Headers::from_ip(&packet);
        assert_eq!(headers.ip.map(|ip| ip.protocol), Some(protocol));
        assert_eq!(Opaque::from_headers(&headers), is_tunnel.then_some(Opaque::Tunnel));
    }
    let mut vxlan = inner.clone();
    vxlan[22..24].copy_from_slice(&4789u16.to_be_bytes());
    assert_eq!(Opaque::from_headers(&Headers::from_ip(&vxlan)), Some(Opaque::Tunnel));
    assert_eq!(Opaque::from_headers(&Headers::from_ip(inner)), None);
}

#[test]
fn the_numbers_of_what_is_not_looked_into_are_those_of_the_list() {
    for (number, opaque) in Opaque::ALL.into_iter().enumerate() {
        assert_eq!(opaque as usize, number);
    }
}

const LAYERS: [Layer; 6] =
    [Layer::EtherType, Layer::Llc, Layer::PppOE, Layer::Ppp, Layer::Mpls, Layer::Ip];

proptest! {
    #[test]
    fn any_bytes_hold_something(
        bytes in prop::collection::vec(any::<u8>(), 0..200), layer in prop::sample::select(&LAYERS[..]),
        at in 0..220usize,
    ) {
        let encapsulation = Encapsulation::from_layer(&bytes, layer, at);
        prop_assert!(encapsulation.at >= at);
        let headers = Headers::within(&bytes, &encapsulation);
        prop_assert!(headers.ip.is_none() || encapsulation.inside == Inside::Ip);
        let _ = Headers::from_ethernet(&bytes);
    }

    /// Random bytes seldom are a tag: these all are, or begin one.
    #[test]
    fn any_row_of_carriers_ends(
        row in prop::collection::vec(prop::sample::select(carriers()), 0..40), cut in any::<prop::sample::Index>(),
    ) {
        let mut frame = ADDRESSES.to_vec();
        for (_, [carrier, _], _) in &row {
            // Without the type of IP at its end, something else comes next.
            frame.extend(&carrier[..carrier.len().saturating_sub(2)]);
        }
        frame.truncate(12 + cut.index(frame.len()));
        let _ = Headers::from_ethernet(&frame);
    }

    #[test]
    fn rows_of_tags_and_labels_are_gone_through(tags in 0..2000usize, labels in 1..2000usize) {
        let packet = &packets()[0];
        let tags = [0x88u8, 0xa8, 0, 9].repeat(tags);
        let mut labels = [0u8, 1, 0, 64].repeat(labels);
        let last = labels.len() - 2;
        labels[last] |= 1;
        let frame = [&ADDRESSES[..], &tags, &[0x88, 0x47], &labels, packet].concat();
        prop_assert_eq!(Headers::from_ethernet(&frame).ports, Headers::from_ip(packet).ports);
    }
}
