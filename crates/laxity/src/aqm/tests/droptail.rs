//! A limit and a threshold of marks, against a list.

use std::collections::VecDeque;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::packet;
use crate::aqm::{Limit, ManagedScheduler, Policy};
use crate::packet::{Ecn, Packet};
use crate::sched::Fifo;
use crate::scheduler::{Backlog, DropReason, Scheduler};
use crate::testing::gaps;
use crate::units::Nanos;

/// Whether a queue would be longer than that with one more packet.
fn exceeds(queue: &VecDeque<Packet>, packet: &Packet, most: Limit) -> bool {
    let with = || queue.iter().chain([packet]);
    match most {
        Limit::None => false,
        Limit::Packets(most) => with().count() as u64 > most,
        Limit::Bytes(most) => with().map(|packet| u64::from(packet.length)).sum::<u64>() > most,
    }
}

fn any_limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (0..12u64).prop_map(Limit::Packets),
        (0..9_000u64).prop_map(Limit::Bytes),
        Just(Limit::None)
    ]
}

/// How many packets were marked.
fn side_by_side(
    [limit, mark]: [Limit; 2],
    steps: impl IntoIterator<Item = (u64, bool, u32, u32)>,
) -> Result<usize, TestCaseError> {
    let policy = Policy::DropTail { limit, mark };
    let mut fifo = ManagedScheduler::new(Fifo::new(), &[policy], &[Some(0)], 0).unwrap();
    let (mut queue, mut now, mut marked) = (VecDeque::new(), Nanos::ZERO, 0);
    for (handle, (gap, arrives, length, flow)) in (0..).zip(steps) {
        now += Nanos(gap);
        if !arrives {
            let sent = fifo.dequeue(now, &mut |_, _| {}).map(|sent| sent.packet);
            marked += usize::from(sent.is_some_and(|sent| sent.ecn == Ecn::Experienced));
            prop_assert_eq!(sent, queue.pop_front());
            continue;
        }
        let mut dropped = Vec::new();
        let mut packet = packet(now, 0, flow, length, handle);
        fifo.enqueue(now, packet, &mut |packet, reason| dropped.push((packet, reason)));
        if exceeds(&queue, &packet, limit) {
            prop_assert_eq!(dropped, [(packet, DropReason::QueueFull)]);
            continue;
        }
        prop_assert_eq!(dropped, []);
        if exceeds(&queue, &packet, mark) && packet.ecn != Ecn::NotCapable {
            packet.ecn = Ecn::Experienced;
        }
        queue.push_back(packet);
    }
    Ok(marked)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_exceeds_is_dropped_or_marked(
        limits in [any_limit(), any_limit()],
        steps in vec((gaps(1_000_000), 0..5u8, 1..=1500u32, 0..4u32), 1..200),
    ) {
        side_by_side(limits, steps.into_iter().map(|(gap, choice, length, flow)| (gap, choice < 3, length, flow)))?;
    }
}

/// Of ten packets of two flows that come at once, the first three find no more than two before
/// them.
#[test]
fn marks_begin_at_the_threshold() {
    let steps = (0..20).map(|step| (0, step < 10, 1_000, step % 2));
    for mark in [Limit::Packets(3), Limit::Bytes(3_999)] {
        // The flow of even number is capable of ECN: packets 4, 6 and 8, counted from 0.
        assert_eq!(side_by_side([Limit::None, mark], steps.clone()).unwrap(), 3);
    }
}

proptest! {
    /// Compares demotion with its definition, by the packets queued. A packet that is not demoted
    /// gets in if it fits beside others that are not; a demoted one gets in if it fits beside all.
    /// A packet that gets in drops no more demoted ones than it needs to.
    #[test]
    fn demoted_packets_give_way(
        limit in any_limit(),
        steps in vec((gaps(2_000_000), 0..3u8, 1..1500u32, any::<bool>()), 1..300),
    ) {
        let policy = Policy::DropTail { limit, mark: Limit::None };
        let managed = ManagedScheduler::new(Fifo::new(), &[policy], &[Some(0)], 0).unwrap();
        let mut managed = managed.with_demoted_giving_way();
        let (mut queue, mut now) = (VecDeque::<Packet>::new(), Nanos::ZERO);
        for (handle, (gap, step, length, demoted)) in (0..).zip(steps) {
            now += Nanos(gap);
            if step == 0 {
                let sent = managed.dequeue(now, &mut |_, _| {}).map(|sent| sent.packet);
                prop_assert_eq!(sent, queue.pop_front());
                continue;
            }
            let packet = Packet { demoted, ..packet(now, 0, 0, length, handle) };
            let promised = queue.iter().filter(|queued| !queued.demoted).copied().collect();
            let fits = if demoted { !exceeds(&queue, &packet, limit) } else { !exceeds(&promised, &packet, limit) };
            prop_assert_eq!(managed.has_room(&packet, Backlog::default()), fits);
            let mut dropped = Vec::new();
            managed.enqueue(now, packet, &mut |packet, reason| dropped.push((packet, reason)));
            prop_assert!(dropped.iter().all(|(packet, reason)| *reason == DropReason::no_room(packet)));
            if !fits {
                prop_assert_eq!(dropped, [(packet, DropReason::no_room(&packet))]);
                continue;
            }
            for (victim, _) in dropped {
                prop_assert!(victim.demoted && !demoted);
                prop_assert!(exceeds(&queue, &packet, limit));
                let at = queue.iter().position(|queued| *queued == victim);
                queue.remove(at.expect("what is dropped was queued"));
            }
            prop_assert!(!exceeds(&queue, &packet, limit));
            queue.push_back(packet);
        }
    }
}
