//! Beside a list that is searched from end to end.

use proptest::prelude::*;
use std::vec::Vec;

use super::*;
use crate::packet::ClassId;

#[derive(Clone, Copy, Debug)]
enum Step {
    Enqueue { rank: u8, held: u8 },
    Dequeue { later: u8 },
    Withdraw { pick: usize },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..6u8, 0..4u8).prop_map(|(rank, held)| Step::Enqueue { rank, held }),
        2 => (0..4u8).prop_map(|later| Step::Dequeue { later }),
        1 => any::<usize>().prop_map(|pick| Step::Withdraw { pick }),
    ]
}

/// The rank is the class's number, and a packet's flow says how long it is held.
fn by_class() -> Pifo<u32, impl FnMut(&Packet) -> Ranking<u32>> {
    Pifo::new(6, |packet: &Packet| Ranking {
        rank: packet.class.0,
        eligible: packet.arrival + Nanos(packet.flow.0.into()),
        deadline: None,
    })
}

proptest! {
    #[test]
    fn the_least_rank_of_what_is_eligible_goes_first(
        steps in prop::collection::vec(step(), 1..400),
    ) {
        let mut pifo = by_class();
        let mut queued: Vec<(Packet, Place)> = Vec::new();
        let none = &mut |_, _| panic!("nothing is dropped");
        let mut now = Nanos::ZERO;
        let eligible = |packet: &Packet| packet.arrival + Nanos(packet.flow.0.into());
        for (handle, step) in (0..).zip(steps) {
            match step {
                Step::Enqueue { rank, held } => {
                    let (class, flow) = (ClassId(rank.into()), crate::packet::FlowId(held.into()));
                    let packet = Packet { class, flow, length: 100, arrival: now, handle, ..Packet::default() };
                    queued.push((packet, pifo.place(now, packet, none).unwrap()));
                }
                Step::Dequeue { later } => {
                    now.0 += u64::from(later);
                    let sent = pifo.dequeue(now, none).map(|dispatch| dispatch.packet);
                    let ready = queued.iter().filter(|(packet, _)| eligible(packet) <= now);
                    let first = ready.min_by_key(|(packet, _)| (packet.class, packet.handle));
                    prop_assert_eq!(sent, first.map(|(packet, _)| *packet));
                    queued.retain(|(packet, _)| Some(*packet) != sent);
                }
                Step::Withdraw { pick } if !queued.is_empty() => {
                    let (packet, place) = queued.remove(pick % queued.len());
                    prop_assert_eq!(pifo.withdraw(now, place, packet.handle, none), Some(packet));
                }
                Step::Withdraw { .. } => {}
            }
            let next = queued.iter().map(|(packet, _)| eligible(packet).max(now)).min();
            prop_assert_eq!(pifo.next_ready(now), next);
            prop_assert_eq!(pifo.backlog().packets, queued.len());
        }
    }
}

/// What is withdrawn behind what goes first is forgotten, too.
#[test]
fn memory_is_that_of_what_is_queued() {
    let mut pifo = by_class();
    let none = &mut |_, _| panic!("nothing is dropped");
    for handle in 0..100_000 {
        for class in [ClassId(0), ClassId(5)] {
            let packet = Packet { class, length: 100, handle, ..Packet::default() };
            let place = pifo.place(Nanos::ZERO, packet, none).unwrap();
            if class.0 == 5 {
                assert_eq!(pifo.withdraw(Nanos::ZERO, place, handle, none), Some(packet));
            }
        }
        assert!(pifo.dequeue(Nanos::ZERO, none).is_some());
    }
    assert!(pifo.footprint() < 10_000, "{} B", pifo.footprint());
}
