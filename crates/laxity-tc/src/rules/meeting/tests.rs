use super::*;
use crate::packets::Field;
use laxity_plan::matching::{Net, Numbers, Side};
use proptest::prelude::*;

fn packets() -> impl Strategy<Value = Packets> {
    let ports = prop::option::of((0u16..9, 0u16..9));
    let net = prop::option::of((0u8..16, 28u8..=32, any::<bool>()));
    (ports, net).prop_map(|(ports, net)| {
        let mut packets = Packets::default();
        if let Some((a, b)) = ports {
            let range = Numbers::new(vec![(a.min(b), a.max(b))]);
            packets.with(Field::DestinationPort, &range);
        }
        if let Some((last, prefix, is_v4)) = net {
            let address = if is_v4 {
                [10, 0, 0, last].into()
            } else {
                IpAddr::from(u128::from(last).to_be_bytes())
            };
            let prefix = if is_v4 { prefix } else { prefix + 96 };
            packets.within(Side::Source, Net::new(address, prefix));
        }
        packets
    })
}

proptest! {
    #[test]
    fn none_that_meets_is_missed(all in prop::collection::vec(packets(), 0..20), one in packets()) {
        let found = Meeting::new(all.iter()).with(&one);
        prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
        for (at, other) in all.iter().enumerate() {
            prop_assert!(!other.overlaps(&one) || found.contains(&(at as u32)));
        }
    }
}

#[test]
fn one_of_many_is_found_at_once() {
    let of = |port| {
        let mut packets = Packets::default();
        packets.with(Field::DestinationPort, &crate::packets::one(port));
        packets
    };
    let all: Vec<Packets> = (0..60_000).map(of).collect();
    assert_eq!(Meeting::new(all.iter()).with(&of(77)), [77]);
}
