//! Every dispatch is that of the definition.

use std::vec::Vec;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::cases::{Case, Step, What, cases};
use super::reference::Reference;
use super::virtual_time;
use crate::explain::Explain;
use crate::link::Link;
use crate::packet::{ClassId, Packet};
use crate::queue::serial::REACH;
use crate::sched::Hfsc;
use crate::sched::hfsc::{ClassSpec, Curves};
use crate::scheduler::{Place, Scheduler, Withdraw};
use crate::service::ServiceCurve;
use crate::units::{Bytes, Nanos, Rate};

/// The scheduler, its definition and a link to which both send.
struct Beside {
    fast: Hfsc,
    reference: Reference,
    link: Link,
    arrived: u64,
    /// Handles and places in the scheduler.
    queued: Vec<(u64, Place)>,
}

impl Beside {
    fn new(case: &Case) -> Self {
        Beside {
            fast: Hfsc::new(&case.classes).unwrap(),
            reference: Reference::new(&case.classes),
            link: Link::new(case.rate),
            arrived: 0,
            queued: Vec::new(),
        }
    }

    fn run(case: &Case) {
        Beside::run_withdrawing(case, &[]);
    }

    /// After some steps one of the packets that are queued then is withdrawn.
    fn run_withdrawing(case: &Case, withdrawals: &[Option<usize>]) {
        let mut beside = Beside::new(case);
        let mut now = Nanos::ZERO;
        let withdrawals = withdrawals.iter().chain(std::iter::repeat(&None));
        for (step, withdrawal) in case.steps.iter().zip(withdrawals) {
            beside.send_until(now, step.at, step.after_choice);
            now = step.at;
            beside.step(now, step.what, case.classes.len() as u32);
            if let Some(pick) = withdrawal {
                beside.withdraw(now, *pick);
            }
        }
        beside.send_until(now, Nanos::MAX, false);
    }

    fn withdraw(&mut self, now: Nanos, pick: usize) {
        if self.queued.is_empty() {
            return;
        }
        let (handle, place) = self.queued.swap_remove(pick % self.queued.len());
        let drops = &mut |_, _| panic!("nothing is dropped");
        let packet = self.fast.withdraw(now, place, handle, drops);
        assert!(packet.is_some_and(|packet| packet.handle == handle));
        assert_eq!(packet, self.reference.withdraw(now, place, handle, drops));
        assert_eq!(self.fast.backlog(), self.reference.backlog());
    }

    fn step(&mut self, now: Nanos, what: What, classes: u32) {
        match what {
            What::Arrive { class, length } => self.arrive(now, class, length),
            What::ArriveEverywhere { length } => {
                (0..classes).for_each(|class| self.arrive(now, ClassId(class), length));
            }
            What::Ask => {
                self.dequeue(now);
            }
            What::Add(spec) => assert_eq!(self.fast.add(spec), self.reference.add(spec)),
            What::Change(class, curves) => assert_eq!(
                self.fast.change(now, class, curves),
                self.reference.change(now, class, curves)
            ),
            What::Remove(class) => {
                assert_eq!(self.fast.remove(class), self.reference.remove(class));
            }
        }
        assert_eq!(self.fast.backlog(), self.reference.backlog());
    }

    fn arrive(&mut self, now: Nanos, class: ClassId, length: u32) {
        let handle = self.arrived;
        self.arrived += 1;
        let packet = Packet { class, length, arrival: now, handle, ..Packet::default() };
        let (mut fast, mut reference) = (Vec::new(), Vec::new());
        let place = self.fast.place(now, packet, &mut |packet, reason| fast.push((packet, reason)));
        self.queued.extend(place.map(|place| (handle, place)));
        self.reference.enqueue(now, packet, &mut |packet, reason| reference.push((packet, reason)));
        assert_eq!(fast, reference);
    }

    /// Lets the link send from `now` until `end`, at which it chooses only if `inclusive`.
    fn send_until(&mut self, mut now: Nanos, end: Nanos, inclusive: bool) {
        loop {
            let start = self.link.free_at().max(now);
            if start > end || (start == end && !inclusive) {
                return;
            }
            match self.dequeue(start) {
                Some(length) => {
                    self.link.transmit(start, length);
                }
                None => match self.reference.next_ready(start) {
                    Some(ready) => now = ready,
                    None => return,
                },
            }
        }
    }

    /// The length of what is sent.
    fn dequeue(&mut self, now: Nanos) -> Option<u32> {
        let ready = self.reference.next_ready(now);
        match ready {
            None => assert!(!self.reference.is_ready(Nanos::MAX)),
            Some(ready) => {
                assert!(self.reference.is_ready(ready) || ready == Nanos::MAX);
                assert!(ready == now || !self.reference.is_ready(Nanos(ready.0 - 1)));
            }
        }
        assert_eq!(self.fast.next_ready(now), ready);
        let before = self.reference.clone();
        let dispatch = self.reference.dequeue(now, &mut |_, _| panic!("nothing is dropped late"));
        assert_eq!(self.fast.dequeue(now, &mut |_, _| panic!("nothing is dropped late")), dispatch);
        for (first, sent) in
            before.first_packets().flat_map(|first| dispatch.map(|sent| (first, sent)))
        {
            if first.class != sent.packet.class {
                let rule = self.fast.precedence(now, &sent, &first);
                assert_eq!(rule, before.precedence(now, &sent, first.class));
            }
        }
        assert_eq!(self.fast.backlog(), self.reference.backlog());
        let packet = dispatch?.packet;
        self.queued.retain(|(handle, _)| *handle != packet.handle);
        Some(packet.length)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn every_dispatch_is_that_of_the_definition(case in cases(25, 100, 0)) {
        Beside::run(&case);
    }

    #[test]
    fn so_it_is_while_classes_come_change_and_go(case in cases(10, 100, 4)) {
        Beside::run(&case);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn so_it_is_where_packets_are_withdrawn(
        case in cases(10, 60, 2), withdrawals in vec(option::of(any::<usize>()), 60),
    ) {
        Beside::run_withdrawing(&case, &withdrawals);
    }

    #[test]
    fn so_it_is_in_small_cases(case in cases(4, 20, 1)) {
        Beside::run(&case);
    }
}

/// Real-time service takes a class as far ahead of its sibling in virtual time as can be.
#[test]
fn so_it_is_where_a_class_runs_away() {
    const LENGTH: u32 = 72_000_000;
    let leaf = |real_time: Option<Rate>, share| {
        let (real_time, share) =
            (real_time.map(ServiceCurve::linear), Some(ServiceCurve::linear(share)));
        let curves = Curves { real_time, link_share: share, upper_limit: None };
        ClassSpec { parent: None, curves }
    };
    let rate = Rate(8_000_000_000);
    let classes = [leaf(Some(Rate(rate.0 / 2)), Rate(1)), leaf(None, rate)];
    let mut beside = Beside {
        fast: Hfsc::new(&classes).unwrap(),
        reference: Reference::new(&classes),
        link: Link::new(rate),
        arrived: 0,
        queued: Vec::new(),
    };
    let (mut now, mut furthest) = (Nanos::ZERO, 0);
    for slot in 0..200 {
        // Class 0 falls idle now and then and comes back.
        let arrivals: &[u32] = match slot % 50 {
            0 => &[0, 1, 1, 1, 1],
            1..30 => &[0, 1],
            30..40 => &[1],
            _ => &[],
        };
        arrivals.iter().for_each(|class| beside.arrive(now, ClassId(*class), LENGTH));
        let [ahead, behind] = [0, 1].map(|class| virtual_time(&beside.fast, ClassId(class)));
        if let (Some(ahead), Some(behind)) = (ahead, behind) {
            furthest = furthest.max(ahead.saturating_sub(behind));
        }
        let next = now + rate.time_for(Bytes(LENGTH.into()));
        beside.send_until(now, next, false);
        now = next;
    }
    beside.send_until(now, Nanos::MAX, false);
    assert!(furthest > u128::from(REACH) * 9 / 10 && furthest <= u128::from(REACH), "{furthest}");
}

/// Parents that are gone leave nothing behind for those that come after them.
#[test]
fn a_new_parent_is_none_that_is_gone() {
    let rate = Rate(8_000_000);
    let link_share = Some(ServiceCurve::linear(rate));
    let curves = Curves { link_share, ..Curves::default() };
    let class = |parent: Option<u32>| ClassSpec { parent: parent.map(ClassId), curves };
    let gone = [2, 0, 3, 1].map(|number| What::Remove(ClassId(number)));
    let new = [None, None, Some(0)].map(|parent| What::Add(class(parent)));
    let packets = [What::Arrive { class: ClassId(2), length: 500 }; 2];
    let steps = gone.into_iter().chain(new).chain(packets);
    let steps = steps.map(|what| Step { at: Nanos::ZERO, after_choice: false, what }).collect();
    let classes = [None, None, Some(0), Some(1)].map(class).to_vec();
    Beside::run(&Case { rate, classes, steps });
}
