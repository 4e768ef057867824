//! The scheduler against a list of packets that is searched from end to end.

use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::reference::{Reference, Rule};
use crate::admit::edf::System;
use crate::packet::Packet;
use crate::scheduler::Criterion;
use crate::testing::{
    self, Arrival, EXACT_GRAIN, EXACT_RATE, EXACT_WEIGHT, Fluid, LARGEST, Way, arrivals, drive,
    systems, two_lines,
};
use crate::units::{Bytes, Nanos};

/// EDF by its definition.
struct Naive {
    /// By class; `None` for best effort.
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
    /// Since when its deadline counts.
    since: Nanos,
}

impl Naive {
    fn new(system: &System, way: Way, weights: Option<&[u32]>, best_effort: usize) -> Self {
        let mut relative_deadlines: Vec<_> =
            system.real_time.iter().map(|class| Some(class.deadline)).collect();
        relative_deadlines.extend(std::iter::repeat_n(None, best_effort));
        let rule = match way {
            Way::Background => None,
            Way::TotalBandwidth | Way::ShiftedLine => Some(Rule::Line(way.line(system))),
            Way::TwoLines => Some(Rule::TwoLines(two_lines(system))),
            Way::TwoLineFast => Some(Rule::TwoLineFast(two_lines(system))),
            Way::Exact => Some(Rule::Exact(way.curve(system))),
        };
        Naive {
            relative_deadlines,
            real_time: Vec::new(),
            best_effort: Vec::new(),
            fair: weights.map(|weights| Fluid::on_grants(system.rate, weights)),
            deadlines: rule.map(Reference::new),
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
        if self.real_time.is_empty() && self.head.is_none() {
            self.deadlines.iter_mut().for_each(Reference::reset);
        }
        Some(chosen)
    }
}

/// Replays what the scheduler's link did through the definition.
fn check(system: &System, way: Way, weights: Option<&[u32]>, arrivals: &[Arrival]) {
    let best_effort = 2;
    let mut edf = testing::edf(system, way, weights, best_effort);
    let run = drive(&mut edf, system.rate, arrivals);
    let mut naive = Naive::new(system, way, weights, best_effort);
    let mut packets: Vec<_> = run.sent.iter().map(|sent| sent.dispatch.packet).collect();
    packets.sort_by_key(|packet| packet.handle);
    let mut packets = packets.into_iter();
    for sent in run.sent {
        let arrived = arrivals.len() - packets.len();
        packets.by_ref().take(sent.arrived - arrived).for_each(|packet| naive.enqueue(packet));
        let dispatch = sent.dispatch;
        let ours = (dispatch.packet, dispatch.deadline, dispatch.criterion);
        assert_eq!(Some(ours), naive.dequeue(sent.start));
    }
}

/// The system with its deadlines on a coarse grid, so that packets of different classes are often
/// due at one instant.
fn on_grid(mut system: System, grid: u64) -> System {
    for class in &mut system.real_time {
        class.deadline = Nanos(class.deadline.0.div_ceil(grid) * grid);
    }
    system
}

/// Systems of every kind, admitted or not, with two classes of best effort and what may arrive: on
/// a grid of a bit more than a packet's time, or at any nanosecond.
fn plans() -> impl Strategy<Value = (System, Vec<Arrival>)> {
    (systems(), any::<bool>()).prop_flat_map(|(system, grid)| {
        let unit = system.rate.time_for(Bytes(LARGEST.into())).0;
        let classes = system.real_time.len() as u32 + 2;
        let system = if grid { on_grid(system, unit) } else { system };
        let arrivals = arrivals(classes, 1..=LARGEST, 1, unit, 40).prop_map(move |mut arrivals| {
            for arrival in &mut arrivals {
                if grid {
                    arrival.time = Nanos(arrival.time.0 / unit * unit);
                }
            }
            arrivals
        });
        (Just(system), arrivals)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn every_dispatch_is_that_of_the_definition((system, arrivals) in plans(), way in Way::any()) {
        check(&system, way, None, &arrivals);
    }

    /// On a link and with lengths that leave no fraction in the fluid, so that the order of ties
    /// counts too.
    #[test]
    fn every_dispatch_behind_fair_queueing_is_that_of_the_definition(
        (mut system, mut arrivals) in plans(), way in Way::any(), weights in vec(1..=2u32, 7),
    ) {
        system.rate = EXACT_RATE;
        for class in &mut system.real_time {
            class.deadline = Nanos(class.deadline.0 % 50_000_000 + 2_000_000);
        }
        for arrival in &mut arrivals {
            arrival.length = EXACT_GRAIN * (arrival.length % 2 + 1);
        }
        let weights = &weights[..system.real_time.len() + 2];
        assert!(weights.iter().sum::<u32>() <= EXACT_WEIGHT);
        check(&system, way, Some(weights), &arrivals);
    }
}
