//! Matches and packets that often meet.

use laxity_plan::matching::{Expr, Headers, IpHeaders, Net, Numbers, Ports, Side, Version};
use proptest::prelude::*;

fn numbers(most: u16) -> impl Strategy<Value = Numbers> {
    (0..=most, 0..=most).prop_map(|(a, b)| Numbers::new(vec![(a.min(b), a.max(b))]))
}

fn test() -> impl Strategy<Value = Expr> {
    let side = || prop::sample::select(vec![Side::Source, Side::Destination, Side::Any]);
    let net =
        (0u8..4, 30u8..=32).prop_map(|(last, prefix)| Net::new([10, 0, 0, last].into(), prefix));
    prop_oneof![
        Just(Expr::Any),
        Just(Expr::Version(Version::V4)),
        Just(Expr::Version(Version::V6)),
        prop::sample::select(vec![6, 17])
            .prop_map(|one| Expr::Protocol(Numbers::new(vec![(one, one)]))),
        (side(), numbers(3)).prop_map(|(side, ports)| Expr::Port(side, ports)),
        (side(), net).prop_map(|(side, net)| Expr::Address(side, Box::new([net]))),
        numbers(3).prop_map(Expr::Dscp),
        numbers(3).prop_map(Expr::Ecn),
        numbers(2).prop_map(Expr::Vlan),
        numbers(7).prop_map(Expr::Pcp),
        any::<bool>().prop_map(Expr::Tagged),
    ]
}

/// Matches that nest a little.
pub(crate) fn expressions() -> impl Strategy<Value = Expr> {
    test().prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|expr| Expr::Not(Box::new(expr))),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::all),
            prop::collection::vec(inner, 2..4).prop_map(Expr::either),
        ]
    })
}

/// Headers of IP and of what is not, few enough to be taken often.
pub(crate) fn headers() -> impl Strategy<Value = Headers> {
    let ip = (0u8..4, 0u8..4, prop::sample::select(vec![6, 17, 1]), 0u8..4, 0u8..4, any::<bool>());
    let ip = ip.prop_map(|(from, to, protocol, dscp, ecn, is_v4)| {
        let address = |last| {
            if is_v4 { [10, 0, 0, last].into() } else { u128::from(last).to_be_bytes().into() }
        };
        IpHeaders { source: address(from), destination: address(to), protocol, dscp, ecn }
    });
    let tag = prop::option::of((0u16..3, 0u8..8));
    (prop::option::weighted(0.9, ip), (0u16..4, 0u16..4), tag).prop_map(|(ip, ports, tag)| {
        let has_ports = ip.is_some_and(|ip| ip.protocol != 1);
        let (source, destination) = ports;
        Headers {
            vlan: tag.map(|(vlan, _)| vlan),
            pcp: tag.map(|(_, pcp)| pcp),
            ip,
            ports: has_ports.then_some(Ports { source, destination }),
            ..Headers::default()
        }
    })
}
