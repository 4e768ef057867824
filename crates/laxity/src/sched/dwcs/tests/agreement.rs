//! The scheduler against the reference, service by service and drop by drop.

use std::vec::Vec;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::packet;
use super::reference::Reference;
use crate::explain::Explain;
use crate::packet::{ClassId, FlowId, Packet};
use crate::sched::Dwcs;
use crate::sched::dwcs::{DwcsSettings, Late, Precedence, Stream, Streams, Violation};
use crate::scheduler::{DropReason, Scheduler};
use crate::units::Nanos;
use crate::window::Loss;

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { class: u32, flow: u32 },
    Serve,
    Wait(u64),
    Join(Streams),
    Leave(u32),
}

/// Short gaps and windows, so that deadlines and tolerances are often equal.
fn any_streams() -> impl Strategy<Value = Streams> {
    let loss = (1..7u32).prop_flat_map(|of| (0..=of, Just(of)));
    let gap = option::weighted(0.85, prop_oneof![1..5u64, 1..40u64]);
    (gap, loss, any::<bool>(), 1..4u32).prop_map(|(gap, (lost, of), drops, count)| Streams {
        stream: Stream {
            gap: gap.map(Nanos),
            loss: Loss::new(lost, of).unwrap(),
            late: if drops { Late::Drop } else { Late::Send },
        },
        count,
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => (0..6u32, 0..5u32).prop_map(|(class, flow)| Step::Arrive { class, flow }),
        16 => Just(Step::Serve),
        12 => prop_oneof![6 => 0..4u64, 1 => 0..300u64].prop_map(Step::Wait),
        1 => any_streams().prop_map(Step::Join),
        1 => (0..6u32).prop_map(Step::Leave),
    ]
}

fn any_settings() -> impl Strategy<Value = DwcsSettings> {
    let every = prop_oneof![Just(1), 1..13u32];
    (any::<bool>(), any::<bool>(), every).prop_map(|(deadline_first, favour, check_every)| {
        DwcsSettings {
            precedence: if deadline_first {
                Precedence::DeadlineFirst
            } else {
                Precedence::LossFirst
            },
            violation: if favour { Violation::Favour } else { Violation::Reset },
            check_every,
        }
    })
}

/// Both, with their drops in order of the packets' handles.
struct Pair {
    fast: Dwcs,
    reference: Reference,
    now: Nanos,
}

impl Pair {
    fn serve(&mut self) -> Result<(), TestCaseError> {
        let (mut dropped, mut expected) = (Vec::new(), Vec::new());
        let drop = |to: &mut Vec<(u64, DropReason)>, packet: Packet, reason| {
            to.push((packet.handle, reason));
        };
        let fast =
            self.fast.dequeue(self.now, &mut |packet, reason| drop(&mut dropped, packet, reason));
        let reference = self
            .reference
            .dequeue(self.now, &mut |packet, reason| drop(&mut expected, packet, reason));
        prop_assert_eq!(fast, reference);
        if let Some(sent) = fast {
            for (class, number, rule) in &self.reference.rules {
                let flow = FlowId(*number as u32);
                let waiting = Packet { class: *class, flow, ..Packet::default() };
                if self.fast.queue(&waiting) != self.fast.queue(&sent.packet) {
                    prop_assert_eq!(self.fast.precedence(self.now, &sent, &waiting), *rule);
                }
            }
        }
        dropped.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(dropped, expected);
        Ok(())
    }

    fn step(&mut self, handle: u64, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Arrive { class, flow } => {
                let packet = packet(class, flow, self.now.0, handle);
                let (mut dropped, mut expected) = (Vec::new(), Vec::new());
                self.fast.enqueue(self.now, packet, &mut |packet: Packet, reason| {
                    dropped.push((packet, reason));
                });
                self.reference.enqueue(self.now, packet, &mut |packet: Packet, reason| {
                    expected.push((packet, reason));
                });
                prop_assert_eq!(dropped, expected);
            }
            Step::Serve => self.serve()?,
            Step::Wait(time) => self.now += Nanos(time),
            Step::Join(streams) => {
                prop_assert_eq!(self.fast.add(streams).unwrap(), self.reference.add(streams));
            }
            Step::Leave(class) => {
                let class = ClassId(class);
                prop_assert_eq!(self.fast.remove(class), self.reference.remove(class));
            }
        }
        prop_assert_eq!(self.fast.backlog().packets, self.reference.backlog());
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn every_service_and_drop_agrees(
        settings in any_settings(),
        streams in vec(any_streams(), 0..6),
        steps in vec(any_step(), 1..250),
    ) {
        let mut pair = Pair {
            fast: Dwcs::new(settings, &streams).unwrap(),
            reference: Reference::new(settings, &streams),
            now: Nanos::ZERO,
        };
        for (handle, step) in (0..).zip(steps) {
            pair.step(handle, step)?;
        }
        while pair.reference.backlog() > 0 {
            pair.serve()?;
            pair.now += Nanos(1);
        }
        prop_assert_eq!(pair.fast.backlog().packets, 0);
    }
}
