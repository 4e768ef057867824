//! Queue management against lists that are searched from end to end.

mod choke;
mod codel;
mod conservation;
mod droptail;
mod naive;
mod pie;
mod red;

pub(crate) use codel::Pseudocode;

use proptest::prelude::*;

use super::{CoDel, Fraction, Limit, Measure, Pie, Red, Spacing};
use crate::packet::{ClassId, Ecn, FlowId, Packet};
use crate::units::{Bytes, Nanos};

fn any_red() -> impl Strategy<Value = Red> {
    let ranges = (0..6u64, 1..8u64, 1..30u64, any::<bool>());
    let shares = (1..=1_000_000u32, 1..1_000_000u32);
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), 1..2_000_000u64);
    (ranges, shares, switches).prop_map(|(ranges, shares, switches)| {
        let (min, span, limit, in_bytes) = ranges;
        let (max_p, weight) = shares;
        let (gentle, ecn, waits, transmission) = switches;
        let unit = if in_bytes { 700 } else { 1 };
        Red {
            min: min * unit,
            max: (min + span) * unit,
            measure: if in_bytes { Measure::Bytes } else { Measure::Packets },
            limit: if in_bytes { Limit::Bytes(limit * unit) } else { Limit::Packets(limit) },
            max_p: Fraction::millionths(max_p),
            weight: Fraction::millionths(weight),
            gentle,
            ecn,
            spacing: if waits { Spacing::Wait } else { Spacing::Uniform },
            transmission: Nanos(transmission),
        }
    })
}

pub(crate) fn any_codel() -> impl Strategy<Value = CoDel> {
    (1..5_000_000u64, 1..50_000_000u64, 1..200u64, any::<bool>(), 1..3000u64).prop_map(
        |(target, interval, limit, ecn, max_packet)| CoDel {
            target: Nanos(target),
            interval: Nanos(interval),
            limit: Limit::Packets(limit),
            ecn,
            max_packet: Bytes(max_packet),
        },
    )
}

fn any_pie() -> impl Strategy<Value = Pie> {
    let update = prop_oneof![3 => 1..20_000_000u64, 1 => 1..10_000u64];
    let times = (0..20_000_000u64, update, 0..40_000_000u64);
    (times, 0..2_000_000_000u32, 0..2_000_000_000u32, 1..200u64, any::<bool>(), 1..1500u64)
        .prop_map(|((target, update, burst), alpha, beta, limit, ecn, packet)| Pie {
            target: Nanos(target),
            update: Nanos(update),
            alpha: alpha.min(Pie::MOST_GAIN),
            beta: beta.min(Pie::MOST_GAIN),
            burst: Nanos(burst),
            limit: Limit::Packets(limit),
            ecn,
            packet: Bytes(packet),
        })
}

/// A packet of one of a few flows.
pub(crate) fn packet(now: Nanos, class: u32, flow: u32, length: u32, handle: u64) -> Packet {
    let ecn = if flow.is_multiple_of(2) { Ecn::Capable } else { Ecn::NotCapable };
    let (class, flow) = (ClassId(class), FlowId(flow));
    Packet { class, flow, length, ecn, arrival: now, handle, ..Packet::default() }
}
