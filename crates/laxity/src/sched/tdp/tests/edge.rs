//! The frames that packets get at the edge.

use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::{Contract, Edge, FrameAssigner, Slots};
use super::{CommonTime, Tdp, TdpSettings};
use crate::packet::{ClassId, Packet};
use crate::sched::Late;
use crate::scheduler::{Criterion, DropReason, Scheduler};
use crate::units::{Bytes, Nanos, Rate};

const FRAME: u64 = 100;

fn time(frames: u32) -> CommonTime {
    CommonTime { frame: Nanos(FRAME), frames, cycles: 5 }
}

fn slots() -> impl Strategy<Value = Slots> {
    (1..20u32).prop_flat_map(|period| {
        (0..period, 1..40u32).prop_map(move |(start, packets)| Slots { start, packets, period })
    })
}

/// The frames of all packets of some periods.
fn all_frames(slots: Slots) -> Vec<u64> {
    let Slots { start, packets, period } = slots;
    let mut frames = Vec::new();
    // The last slots of a period may lie in the next one, those before the first in the first.
    for cycle in -1..200i64 {
        for i in 0..packets {
            let frame = cycle * i64::from(period) + i64::from(start + i * period / packets);
            frames.extend(u64::try_from(frame));
        }
    }
    frames
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_packet_gets_the_first_frame_that_is_left(
        slots in slots(), ahead in 1..60u32,
        arrivals in vec((0..300u64, prop_oneof![3 => Just(false), 1 => Just(true)]), 1..60),
    ) {
        let contract = Contract { slots, packet: Bytes(500) };
        let mut edge = Edge::new(time(slots.period), ahead, &[None, Some(contract)]).unwrap();
        let mut left = all_frames(slots);
        let mut now = Nanos::ZERO;
        for (gap, is_long) in arrivals {
            now += Nanos(gap);
            let current = now.0 / FRAME;
            let length = if is_long { 501 } else { 500 };
            let packet = Packet { class: ClassId(1), length, ..Packet::default() };
            let given = edge.frame_of(now, &packet);
            let first = left.iter().position(|&frame| frame > current).unwrap();
            let expected = if is_long { None } else { Some(left[first]) };
            prop_assert_eq!(given, expected);
            if expected.is_some_and(|frame| frame <= current + u64::from(ahead)) {
                left.remove(first);
            }
            for other in [
                Packet { class: ClassId(0), ..packet },
                Packet { class: ClassId(7), ..packet },
                Packet { demoted: true, ..packet },
            ] {
                prop_assert_eq!(edge.frame_of(now, &other), None);
            }
        }
    }

    #[test]
    fn traffic_that_keeps_to_its_rate_waits_for_a_gap_and_a_frame(
        slots in slots(), first in 0..3_000u64, more in vec(prop_oneof![3 => Just(0), 1 => 0..500u64], 1..80),
    ) {
        let contract = Contract { slots, packet: Bytes(1) };
        let mut edge = Edge::new(time(slots.period), u32::MAX, &[Some(contract)]).unwrap();
        let gap = (u64::from(slots.period) * FRAME).div_ceil(slots.packets.into());
        let mut now = Nanos(first);
        for more in more {
            let frame = edge.frame_of(now, &Packet { length: 1, ..Packet::default() }).unwrap();
            prop_assert!(frame * FRAME > now.0);
            prop_assert!(frame * FRAME <= now.0 + gap + FRAME);
            now += Nanos(gap + more);
        }
    }
}

#[test]
fn an_edge_holds_packets_until_their_frames_and_drops_what_is_too_much() {
    let settings = TdpSettings {
        time: time(4),
        rate: Rate(8_000_000_000),
        delay: 8,
        guard: Nanos(20),
        late: Late::Drop,
    };
    let slots = Slots { start: 1, packets: 1, period: 4 };
    let contract = Contract { slots, packet: Bytes(50) };
    let mut edge = Edge::new(settings.time, settings.delay, &[Some(contract)]).unwrap();
    let output = Tdp::new(settings).unwrap();
    let mut edge =
        FrameAssigner::new(output, move |now, packet: &Packet| edge.frame_of(now, packet));
    let mut dropped = vec![];
    let mut drops = |packet: Packet, reason| dropped.push((packet.handle, reason));
    for handle in 0..4 {
        let packet = Packet { length: 50, handle, ..Packet::default() };
        edge.enqueue(Nanos(110), packet, &mut drops);
    }
    let best_effort = Packet { class: ClassId(1), length: 60, handle: 9, ..Packet::default() };
    edge.enqueue(Nanos(110), best_effort, &mut drops);
    let mut sent = vec![];
    let mut now = Nanos(110);
    while let Some(ready) = edge.next_ready(now) {
        now = ready;
        let Some(dispatch) = edge.dequeue(now, &mut drops) else { continue };
        sent.push((now.0, dispatch.packet.handle, dispatch.criterion));
        now += Nanos(dispatch.packet.length.into());
    }
    let reserved = Criterion::ReservedFrame;
    assert_eq!(sent, [(110, 9, Criterion::Background), (500, 0, reserved), (900, 1, reserved)]);
    assert_eq!(dropped, [(2, DropReason::Frame), (3, DropReason::Frame)]);
}
