use super::*;
use proptest::prelude::*;

fn ports(field: Field, from: u16, to: u16) -> Packets {
    let mut packets = Packets::default();
    packets.with(field, &Numbers::new(vec![(from, to)]));
    packets
}

#[test]
fn either_of_two_filters_is_one_if_one_field_differs() {
    let (http, https) =
        (ports(Field::DestinationPort, 80, 80), ports(Field::DestinationPort, 443, 443));
    let both = http.or(&https).unwrap();
    assert_eq!(both.expression().to_string(), "dport {80, 443}");
    let mut sent = https.clone();
    sent.with(Field::SourcePort, &one(5));
    assert_eq!(http.or(&sent), None);
    assert_eq!(http.or(&Packets::default()), None);
    assert_eq!(http.or(&http), None);
}

#[test]
fn what_excludes_itself_is_empty() {
    let mut both = ports(Field::DestinationPort, 1, 5);
    both.with(Field::DestinationPort, &one(6));
    assert!(both.is_empty && !both.overlaps(&Packets::default()));
    let mut versions = Packets::default();
    versions.require_version(Version::V6);
    versions.within(Side::Source, Net::new([10, 0, 0, 1].into(), 32));
    assert!(versions.is_empty);
}

/// Filters of one port and one network, few enough to meet often.
fn filters() -> impl Strategy<Value = Packets> {
    let port = (0u16..4, 0u16..4).prop_map(|(a, b)| Numbers::new(vec![(a.min(b), a.max(b))]));
    let net =
        (0u8..4, 30u8..=32).prop_map(|(last, prefix)| Net::new([10, 0, 0, last].into(), prefix));
    (prop::option::of(port), prop::option::of(net)).prop_map(|(port, net)| {
        let mut packets = Packets::default();
        if let Some(port) = &port {
            packets.with(Field::DestinationPort, port);
        }
        if let Some(net) = net {
            packets.within(Side::Source, net);
        }
        packets
    })
}

/// Whether an IPv4 packet is among them.
fn takes(packets: &Packets, port: u16, last: u8) -> bool {
    let in_ports =
        packets.numbers[Field::DestinationPort as usize].as_ref().is_none_or(|numbers| {
            numbers.ranges().iter().any(|(from, to)| (*from..=*to).contains(&port))
        });
    let net = Net::new([10, 0, 0, last].into(), 32);
    !packets.is_empty && in_ports && packets.nets[0].is_none_or(|of| is_part(&net, &of))
}

proptest! {
    #[test]
    fn sets_of_packets_behave_as_sets(a in filters(), b in filters()) {
        let (mut meet, mut inside) = (false, true);
        let both = a.and(&b);
        for (port, last) in (0..4).flat_map(|port| (0..4).map(move |last| (port, last))) {
            let (in_a, in_b) = (takes(&a, port, last), takes(&b, port, last));
            prop_assert_eq!(takes(&both, port, last), in_a && in_b);
            meet |= in_a && in_b;
            inside &= in_a || !in_b;
            if let Some(either) = a.or(&b) {
                prop_assert_eq!(takes(&either, port, last), in_a || in_b);
            }
        }
        prop_assert_eq!(a.overlaps(&b), meet);
        prop_assert!(inside || !a.contains(&b));
        prop_assert!(a.contains(&both) && a.contains(&a));
    }

    #[test]
    fn a_mask_holds_for_the_numbers_that_it_leaves(value in 0u8..64, mask in 0u8..64) {
        let Some(numbers) = masked(value.into(), mask.into(), 6) else {
            return Err(TestCaseError::fail("6 bits are not too scattered"));
        };
        for number in 0..64u8 {
            let holds = numbers.ranges().iter().any(|(from, to)| (*from..=*to).contains(&number.into()));
            prop_assert_eq!(holds, number & mask == value & mask);
        }
    }
}

#[test]
fn a_scattered_mask_is_no_set_of_ports() {
    assert_eq!(masked(1, 1, 16), None);
    assert_eq!(masked(0x4000, 0xc000, 16), Some(Numbers::new(vec![(0x4000, 0x7fff)])));
    assert_eq!(masked(0, 0, 16), Some(Numbers::new(vec![(0, 0xffff)])));
}
