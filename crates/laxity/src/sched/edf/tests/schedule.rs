//! The scheduler against a list of packets that is searched from end to end.

use std::boxed::Box;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::reference::{Reference, Rule};
use crate::admit::edf::{RealTime, System};
use crate::curve::Curve;
use crate::packet::{ClassId, Packet};
use crate::police::TokenBucket;
use crate::sched::edf::{Assign, BestEffort, Deadlines, Edf, Line, TwoLineFast, TwoLines};
use crate::sched::{Late, Wfq};
use crate::scheduler::{Criterion, DropReason, Place, Scheduler, Withdraw};
use crate::testing::{
    Arrival, EXACT_GRAIN, EXACT_RATE, EXACT_WEIGHT, Fluid, LARGEST, Way, arrivals, drive, systems,
    two_lines,
};
use crate::units::{Bytes, Nanos, Rate};

/// What the scheduler and its definition are made from.
#[derive(Debug)]
struct Plan {
    rate: Rate,
    /// By class; `None` for best effort.
    deadlines: Vec<Option<Nanos>>,
    assign: Assign,
    /// What `assign` follows; `None` for background service.
    rule: Option<Rule>,
    /// `None` for best effort in order of arrival.
    weights: Option<Vec<u64>>,
}

impl Plan {
    /// A system with two classes of best effort.
    fn new(system: &System, way: Way, weights: Option<Vec<u64>>) -> Self {
        let deadlines = system.real_time.iter().map(|class| Some(class.deadline));
        let rule = match way {
            Way::Background => None,
            Way::TotalBandwidth | Way::ShiftedLine => Some(Rule::Line(way.line(system))),
            Way::TwoLines => Some(Rule::TwoLines(two_lines(system))),
            Way::TwoLineFast => Some(Rule::TwoLineFast(two_lines(system))),
            Way::Exact => Some(Rule::Exact(way.curve(system))),
        };
        Plan {
            rate: system.rate,
            deadlines: deadlines.chain([None, None]).collect(),
            assign: way.assign(system),
            rule,
            weights,
        }
    }

    /// Compares every dispatch.
    fn check(&self, arrivals: &[Arrival]) {
        let assign = self.assign.clone();
        let best_effort = match &self.weights {
            None => BestEffort::by_arrival(assign),
            Some(weights) => {
                BestEffort::ordered_by(Box::new(Wfq::new(self.rate, weights).unwrap()), assign)
            }
        };
        let run = drive(&mut Edf::new(&self.deadlines, best_effort), self.rate, arrivals);
        let mut packets: Vec<_> = run.sent.iter().map(|sent| sent.dispatch.packet).collect();
        packets.sort_by_key(|packet| packet.handle);
        let mut packets = packets.into_iter();
        let mut naive = Naive::new(self);
        for sent in run.sent {
            let arrived = arrivals.len() - packets.len();
            let newcomers = packets.by_ref().take(sent.arrived - arrived);
            newcomers.for_each(|packet| naive.enqueue(packet));
            let dispatch = sent.dispatch;
            let ours = (dispatch.packet, dispatch.deadline, dispatch.criterion);
            assert_eq!(Some(ours), naive.dequeue(sent.start));
        }
    }
}

/// EDF by its definition.
struct Naive {
    relative_deadlines: Vec<Option<Nanos>>,
    real_time: Vec<Packet>,
    best_effort: Vec<Packet>,
    /// `None` for the order of arrival.
    fair: Option<Fluid>,
    /// `None` behind all real-time packets.
    deadlines: Option<Reference>,
    head: Option<Head>,
}

/// The best-effort packet that competes.
#[derive(Clone, Copy)]
struct Head {
    packet: Packet,
    deadline: Option<Nanos>,
    /// From when its deadline counts.
    since: Nanos,
}

impl Naive {
    fn new(plan: &Plan) -> Self {
        Naive {
            relative_deadlines: plan.deadlines.clone(),
            real_time: Vec::new(),
            best_effort: Vec::new(),
            fair: plan.weights.as_deref().map(|weights| Fluid::on_grants(plan.rate, weights)),
            deadlines: plan.rule.clone().map(Reference::new),
            head: None,
        }
    }

    fn due(&self, packet: &Packet) -> Option<Nanos> {
        let relative = self.relative_deadlines[packet.class.index()].filter(|_| !packet.demoted);
        relative.map(|relative| packet.arrival + relative)
    }

    fn enqueue(&mut self, packet: Packet) {
        if self.due(&packet).is_some() {
            self.real_time.push(packet);
            return;
        }
        self.best_effort.push(packet);
        if let Some(fluid) = &mut self.fair {
            fluid.advance(packet.arrival);
            fluid.arrive(packet.handle, packet.class.index(), packet.length);
        }
        if self.head.is_none() {
            self.promote(packet.arrival);
        }
    }

    /// The best-effort packet that comes next gets its deadline.
    fn promote(&mut self, now: Nanos) {
        let place = match &mut self.fair {
            None => (!self.best_effort.is_empty()).then_some(0),
            Some(fluid) => {
                fluid.advance(now);
                let finish = fluid.finishing_work();
                let order = |&place: &usize| {
                    let handle = self.best_effort[place].handle;
                    (finish[&handle].clone(), handle)
                };
                (0..self.best_effort.len()).min_by_key(order)
            }
        };
        let Some(packet) = place.map(|place| self.best_effort.remove(place)) else { return };
        if let Some(fluid) = &mut self.fair {
            fluid.grant(packet.length);
        }
        let since = if self.fair.is_some() { now } else { packet.arrival };
        let deadline = self.deadlines.as_mut().map(|rule| rule.assign(since, packet.length));
        let deadline = deadline.filter(|deadline| *deadline < Nanos::MAX);
        self.head = Some(Head { packet, deadline, since });
    }

    /// Takes a packet out wherever it is; a head gives way to the next one.
    fn withdraw(&mut self, now: Nanos, handle: u64) {
        self.real_time.retain(|packet| packet.handle != handle);
        self.best_effort.retain(|packet| packet.handle != handle);
        if self.head.take_if(|head| head.packet.handle == handle).is_some() {
            self.promote(now);
        }
        self.reset_if_empty();
    }

    /// Takes out the real-time packets that are late.
    fn drop_late(&mut self, now: Nanos) -> Vec<Packet> {
        let mut late = self.real_time.clone();
        late.retain(|packet| self.due(packet).is_some_and(|due| due < now));
        self.real_time.retain(|packet| !late.contains(packet));
        self.reset_if_empty();
        late
    }

    fn reset_if_empty(&mut self) {
        if self.real_time.is_empty() && self.head.is_none() {
            self.deadlines.iter_mut().for_each(Reference::reset);
        }
    }

    /// The earliest deadline goes first; of equal ones what came first; of what came at one
    /// instant real-time packets, in the order in which they came.
    fn dequeue(&mut self, now: Nanos) -> Option<(Packet, Option<Nanos>, Criterion)> {
        let order = |packet: &Packet| (self.due(packet), packet.arrival, packet.handle);
        let first = (0..self.real_time.len()).min_by_key(|&place| order(&self.real_time[place]));
        let head = self.head.filter(|head| {
            first.is_none_or(|place| {
                let due = self.due(&self.real_time[place]);
                let came = (due, self.real_time[place].arrival);
                head.deadline.is_some() && (head.deadline, head.since) < came
            })
        });
        let chosen = match (head, first) {
            (Some(Head { packet, deadline, .. }), _) => {
                self.head = None;
                self.promote(now);
                let criterion = if deadline.is_some() {
                    Criterion::EarliestDeadline
                } else {
                    Criterion::Background
                };
                (packet, deadline, criterion)
            }
            (None, Some(place)) => {
                let packet = self.real_time.remove(place);
                (packet, self.due(&packet), Criterion::EarliestDeadline)
            }
            (None, None) => return None,
        };
        self.reset_if_empty();
        Some(chosen)
    }
}

/// Systems of every kind, admitted or not, and what may arrive with two classes of best effort.
fn plans() -> impl Strategy<Value = (System, Vec<Arrival>)> {
    systems().prop_flat_map(|system| {
        let unit = system.rate.time_for(Bytes(LARGEST.into())).0;
        let classes = system.real_time.len() as u32 + 2;
        (Just(system), arrivals(classes, 1..=LARGEST, 1, unit, 40))
    })
}

/// Plans and arrivals for three real-time and two best-effort classes. Every time is a multiple of
/// 100 µs, so packets are often due at the same instant.
fn plans_with_ties() -> impl Strategy<Value = (Plan, Vec<Arrival>)> {
    const TICK: u64 = 100_000;
    let rates = prop::sample::select(&[2_000_000u64, 4_000_000, 8_000_000][..]);
    let line = (rates.clone(), 0..4u64)
        .prop_map(|(rate, ticks)| Line { rate: Rate(rate), offset: Nanos(ticks * TICK) });
    let lines = (rates, line).prop_map(|(rate, second)| TwoLines {
        first: Rate(rate).min(second.rate),
        second: Line { rate: second.rate.max(Rate(rate)), ..second },
    });
    let deadlines = vec(1..8u64, 3).prop_map(|ticks| {
        ticks.into_iter().map(|ticks| Some(Nanos(ticks * TICK))).chain([None, None]).collect()
    });
    let plan = (lines, deadlines, 0..3u8).prop_map(|(lines, deadlines, way)| {
        let on_curve = |curve: &Curve| Assign::Curve(Deadlines::new(curve).unwrap());
        let (assign, rule) = match way {
            0 => (on_curve(&lines.second.curve()), Rule::Line(lines.second)),
            1 => (on_curve(&lines.curve()), Rule::TwoLines(lines)),
            _ => (Assign::TwoLineFast(TwoLineFast::new(lines)), Rule::TwoLineFast(lines)),
        };
        Plan { rate: Rate(16_000_000), deadlines, assign, rule: Some(rule), weights: None }
    });
    let arrivals = arrivals(5, 1..=4, 100, 2, 40).prop_map(|mut arrivals| {
        arrivals.iter_mut().for_each(|arrival| arrival.time.0 *= TICK);
        arrivals
    });
    (plan, arrivals)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_dispatch_is_that_of_the_definition((system, arrivals) in plans(), way in Way::any()) {
        Plan::new(&system, way, None).check(&arrivals);
    }

    #[test]
    fn ties_go_to_what_came_first((plan, arrivals) in plans_with_ties()) {
        plan.check(&arrivals);
    }

    /// Late packets are dropped or sent, and some packets are withdrawn from wherever they are.
    #[test]
    fn so_it_is_where_packets_are_dropped(
        (plan, arrivals) in plans_with_ties(), drops_late: bool,
        steps in vec((0..5u8, any::<usize>()), 40),
    ) {
        let late = if drops_late { Late::Drop } else { Late::Send };
        let best_effort = BestEffort::by_arrival(plan.assign.clone());
        let mut edf = Edf::new(&plan.deadlines, best_effort).with_late(late);
        let mut naive = Naive::new(&plan);
        let mut queued: Vec<(u64, Place)> = Vec::new();
        let mut none = |_, _| panic!("nothing is late");
        for (handle, (arrival, (choice, pick))) in (0..).zip(arrivals.iter().zip(steps)) {
            let Arrival { time: now, class, length, demoted, .. } = *arrival;
            let class = ClassId(class);
            let packet = Packet { class, length, demoted, arrival: now, handle, ..Packet::default() };
            naive.enqueue(packet);
            queued.extend(edf.place(now, packet, &mut none).map(|place| (handle, place)));
            if choice == 0 {
                let (handle, place) = queued.swap_remove(pick % queued.len());
                let withdrawn = edf.withdraw(now, place, handle, &mut none);
                prop_assert_eq!(withdrawn.map(|packet| packet.handle), Some(handle));
                naive.withdraw(now, handle);
            }
            for _ in 0..choice.saturating_sub(2) {
                let mut dropped = Vec::new();
                let sent = edf.dequeue(now, &mut |packet, reason| {
                    assert_eq!(reason, DropReason::Late);
                    dropped.push(packet);
                });
                let mut late = if drops_late { naive.drop_late(now) } else { Vec::new() };
                late.sort_by_key(|packet| (naive.due(packet), packet.handle));
                dropped.sort_by_key(|packet| (naive.due(packet), packet.handle));
                prop_assert_eq!(&dropped, &late);
                let ours = sent.map(|sent| (sent.packet, sent.deadline, sent.criterion));
                prop_assert_eq!(ours, naive.dequeue(now));
                let gone = dropped.into_iter().chain(sent.map(|sent| sent.packet));
                for packet in gone {
                    queued.retain(|(handle, _)| *handle != packet.handle);
                }
            }
            prop_assert_eq!(edf.backlog().packets, queued.len());
        }
    }

    /// On a link and with lengths that leave no fraction in the fluid, so that the order of ties
    /// counts too.
    #[test]
    fn every_dispatch_behind_fair_queueing_is_that_of_the_definition(
        (mut system, mut arrivals) in plans(), way in Way::any(), weights in vec(1..=2u64, 7),
    ) {
        system.rate = EXACT_RATE;
        for class in &mut system.real_time {
            class.deadline = Nanos(class.deadline.0 % 50_000_000 + 2_000_000);
        }
        for arrival in &mut arrivals {
            arrival.length = EXACT_GRAIN * (arrival.length % 2 + 1);
        }
        let weights = &weights[..system.real_time.len() + 2];
        assert!(weights.iter().sum::<u64>() <= EXACT_WEIGHT);
        Plan::new(&system, way, Some(weights.to_vec())).check(&arrivals);
    }
}

/// A system at the edge of admission is built, and one beyond it is not.
#[test]
fn only_what_is_admitted_is_built() {
    let class = |deadline| RealTime {
        deadline: Nanos(deadline),
        arrival: std::vec![TokenBucket { bucket: Bytes(300), rate: Rate(1_200_000) }],
        packet: Bytes(100),
    };
    let system = |deadline| System {
        rate: Rate(10_000_000),
        latency: Nanos::ZERO,
        max_packet: Bytes(1_500),
        real_time: std::vec![class(deadline)],
        best_effort_packet: Some(Bytes(1_500)),
    };
    // A packet of best effort and the burst take 1.44 ms.
    assert!(Edf::for_system(&system(1_440_000)).is_some());
    assert!(Edf::for_system(&system(1_439_999)).is_none());
}
