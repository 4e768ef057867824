//! Other disciplines that are special cases of this one.

use std::collections::VecDeque;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{packet, stream};
use crate::sched::dwcs::{DwcsSettings, Late, Precedence, Streams};
use crate::sched::edf::{Assign, BestEffort};
use crate::sched::{Dwcs, Edf};
use crate::scheduler::Scheduler;
use crate::testing::{Arrival, Run, arrivals, drive};
use crate::units::{Nanos, Rate};

const RATE: Rate = Rate(10_000_000);

/// Deadlines are never looked at again.
fn unchecked(precedence: Precedence) -> DwcsSettings {
    DwcsSettings { precedence, check_every: u32::MAX, ..DwcsSettings::default() }
}

/// Gaps of ten classes.
fn gap(class: u32) -> Nanos {
    Nanos(u64::from(class % 5 + 1) * 2_000_000)
}

/// A stream's packets are at least a gap apart, so that deadlines count from their arrivals.
fn spaced() -> impl Strategy<Value = Vec<Arrival>> {
    arrivals(10, 1..=1500, 1, 300_000, 200).prop_map(|mut arrivals| {
        let mut next = [Nanos::ZERO; 10];
        arrivals.retain_mut(|arrival| {
            arrival.demoted = false;
            let next = &mut next[arrival.class as usize];
            let is_spaced = arrival.time >= *next;
            if is_spaced {
                *next = arrival.time + gap(arrival.class);
            }
            is_spaced
        });
        arrivals
    })
}

fn handles(run: &Run) -> Vec<(u64, Option<Nanos>)> {
    let dispatches = run.sent.iter().map(|sent| sent.dispatch);
    dispatches.map(|dispatch| (dispatch.packet.handle, dispatch.deadline)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// All streams may lose all packets, so that only deadlines tell them apart.
    #[test]
    fn earliest_deadline_first(arrivals in spaced()) {
        let deadlines: Vec<_> = (0..10).map(|class| Some(gap(class))).collect();
        let mut edf = Edf::new(&deadlines, BestEffort::by_arrival(Assign::Background));
        let expected = handles(&drive(&mut edf, RATE, &arrivals));
        for precedence in [Precedence::LossFirst, Precedence::DeadlineFirst] {
            let classes: Vec<_> =
                (0..10).map(|class| stream(gap(class).0, (1, 1), Late::Send)).collect();
            let mut dwcs = Dwcs::new(unchecked(precedence), &classes).unwrap();
            prop_assert_eq!(&handles(&drive(&mut dwcs, RATE, &arrivals)), &expected);
        }
    }

    /// Streams without deadlines keep their tolerances: the lowest always goes first.
    #[test]
    fn static_priority(steps in vec((0..5u32, any::<bool>()), 1..300)) {
        let classes = [(0, 9), (0, 2), (1, 7), (2, 3), (1, 1)].map(|loss| stream(0, loss, Late::Drop));
        let mut dwcs = Dwcs::new(DwcsSettings::default(), &classes).unwrap();
        let mut queues = [const { VecDeque::new() }; 5];
        for (handle, (class, arrives)) in (0u64..).zip(steps) {
            if arrives {
                dwcs.enqueue(Nanos(handle), packet(class, 0, handle, handle), &mut |_, _| ());
                queues[class as usize].push_back(handle);
            } else {
                let expected = queues.iter_mut().find_map(VecDeque::pop_front);
                let served = dwcs.dequeue(Nanos(handle), &mut |_, _| ());
                prop_assert_eq!(served.map(|served| served.packet.handle), expected);
            }
        }
    }

    /// Streams that always have packets share by their gaps: n T is the same for all, to within one
    /// gap of the stream that is behind.
    #[test]
    fn fair_sharing_by_gaps(gaps in vec(1..40u64, 2..8)) {
        let classes: Vec<_> = gaps.iter().map(|&gap| stream(gap, (1, 1), Late::Send)).collect();
        let mut backlogged = Backlogged::new(unchecked(Precedence::LossFirst), &classes, 500);
        for now in 0..500 {
            backlogged.serve(now);
            for (ahead, gap) in backlogged.served.iter().zip(&gaps) {
                for (behind, behind_gap) in backlogged.served.iter().zip(&gaps) {
                    prop_assert!(ahead * gap <= (behind + 1) * behind_gap);
                }
            }
        }
    }

    /// Streams that always have packets share by their tolerances: of W services one that may lose
    /// W - w of W packets gets w. The first deadline leaves room for one service more.
    #[test]
    fn fair_sharing_by_tolerances(weights in vec(1..9u32, 2..8)) {
        let sum: u32 = weights.iter().sum();
        let loss = |weight| (sum - weight, sum);
        let classes: Vec<_> =
            weights.iter().map(|&weight| stream(1, loss(weight), Late::Drop)).collect();
        let settings = DwcsSettings { precedence: Precedence::DeadlineFirst, ..DwcsSettings::default() };
        let mut backlogged = Backlogged::new(settings, &classes, 2);
        for now in 0..20 * u64::from(sum) {
            backlogged.serve(now);
            let turns = (now + 1) / u64::from(sum);
            if (now + 1).is_multiple_of(sum.into()) {
                for (served, &weight) in backlogged.served.iter().zip(&weights) {
                    prop_assert!(served.abs_diff(turns * u64::from(weight)) <= 1);
                }
            }
        }
    }
}

/// Streams that always have the same number of packets queued, and how many each was served.
struct Backlogged {
    dwcs: Dwcs,
    served: Vec<u64>,
}

impl Backlogged {
    fn new(settings: DwcsSettings, classes: &[Streams], packets: u32) -> Self {
        let mut dwcs = Dwcs::new(settings, classes).unwrap();
        for class in (0..packets).flat_map(|_| 0..classes.len() as u32) {
            dwcs.enqueue(Nanos::ZERO, packet(class, 0, 0, 0), &mut |_, _| ());
        }
        Backlogged { dwcs, served: std::vec![0; classes.len()] }
    }

    fn serve(&mut self, now: u64) {
        let mut gone = Vec::new();
        let dispatch = self.dwcs.dequeue(Nanos(now), &mut |packet, _| gone.push(packet));
        let packet = dispatch.expect("streams are backlogged").packet;
        self.served[packet.class.index()] += 1;
        for packet in gone.into_iter().chain([packet]) {
            self.dwcs.enqueue(Nanos(now), packet, &mut |_, _| ());
        }
    }
}
