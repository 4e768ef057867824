//! What time-driven priority is asked to reserve in a plan's network.

use std::collections::HashMap;
use std::ops::Range;

use laxity::admit::tdp::{self, Answer, Flow, Ledger, OutputId, Reservation, ReservationError};
use laxity::packet::ClassId;
use laxity::police::{PacketLine, TokenBucket};
use laxity::sched::tdp::{Contract, TdpSettings, capacity};
use laxity::units::{Bytes, NANOBITS_PER_BYTE, Nanos};

use super::FramedNetwork;
use crate::model::{Class, Hop, NodeId, Plan, SchedulerSpec, TdpSpec};

/// The most frames ahead that an edge gives out: it has a queue for each.
pub const MOST_AHEAD: u32 = 1 << 17;

/// The outputs that have frames, and the flows that are to be given some.
#[derive(Clone, Debug)]
pub struct Demand {
    /// The outputs, by [`OutputId`].
    pub outputs: Vec<Hop>,
    /// What can be reserved in a frame of each.
    pub capacities: Vec<Bytes>,
    /// What is to be reserved, by class and place on its path.
    pub stretches: Vec<Stretch>,
}

/// A part of a class's path on which all outputs have frames: a packet gets one at the first of
/// them, which is an edge, and is forwarded by the others.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// The class, whose packets of all streams share what is reserved.
    pub class: ClassId,
    /// The links of the path, by position.
    pub hops: Range<usize>,
    /// What is asked for.
    pub flow: Flow,
    /// The frames that the plan says itself.
    pub chosen: Option<Reservation>,
}

/// The steps that the solver takes at most: seconds.
#[cfg(not(target_arch = "wasm32"))]
const EFFORT: u64 = 100_000;

/// Reservations of a network for time-driven priority.
#[derive(Clone, Debug)]
pub struct Reservations {
    /// Every frame of every output.
    pub ledger: Ledger,
    /// What each stretch was given, or why nothing.
    pub answers: Vec<Answer>,
    /// How many stretches can be given frames at most, where that was asked.
    pub most: Option<usize>,
}

impl Demand {
    /// The numbers of all outputs.
    pub fn output_ids(&self) -> impl Iterator<Item = OutputId> {
        (0..self.outputs.len()).map(OutputId::from_index)
    }

    /// The numbers of the stretches of a class.
    pub fn stretches_of(&self, class: ClassId) -> Range<usize> {
        let first = |bound: ClassId| self.stretches.partition_point(|one| one.class < bound);
        first(class)..first(ClassId(class.0 + 1))
    }

    /// Reserves the frames that the plan says itself, and then some for as many of the other
    /// stretches as it finds room for.
    pub fn reserve(&self, spec: &TdpSpec) -> Reservations {
        let mut ledger = Ledger::new(spec.period(), &self.capacities);
        let chosen: Vec<Option<Answer>> =
            self.stretches.iter().map(|stretch| stretch.reserve_chosen(&mut ledger)).collect();
        let left = self.stretches.iter().zip(&chosen).filter(|(_, chosen)| chosen.is_none());
        let flows: Vec<Flow> = left.map(|(stretch, _)| stretch.flow.clone()).collect();
        let (found, most) = find(&mut ledger, spec, &flows);
        let placed = chosen.iter().flatten().filter(|chosen| chosen.is_ok()).count();
        let mut found = found.into_iter();
        let answers = chosen.into_iter().flat_map(|chosen| chosen.or_else(|| found.next()));
        Reservations { answers: answers.collect(), ledger, most: most.map(|most| most + placed) }
    }
}

impl Stretch {
    /// Reserves the frames that the plan says, if it says any. Where one is full, what is left of
    /// the others is not given to anyone else.
    fn reserve_chosen(&self, ledger: &mut Ledger) -> Option<Answer> {
        let Stretch { flow, chosen, .. } = self;
        let chosen = chosen.as_ref()?;
        Some(match ledger.reserve_as(flow, chosen) {
            Ok(()) => Ok(chosen.clone()),
            Err(full) => {
                ledger.fill(flow, chosen);
                Err(ReservationError { full: vec![full], certain: true })
            }
        })
    }
}

/// Finds frames for flows, where there is no solver.
#[cfg(target_arch = "wasm32")]
fn find(ledger: &mut Ledger, _: &TdpSpec, flows: &[Flow]) -> (Vec<Answer>, Option<usize>) {
    (ledger.reserve_all(flows), None)
}

/// Finds frames for flows. Returns how many can be given some at most, where that was asked.
#[cfg(not(target_arch = "wasm32"))]
fn find(ledger: &mut Ledger, spec: &TdpSpec, flows: &[Flow]) -> (Vec<Answer>, Option<usize>) {
    if spec.assignment == crate::model::Assignment::Quick {
        return (ledger.reserve_all(flows), None);
    }
    let found = laxity_exact::assign(ledger, flows, EFFORT);
    for (flow, reservation) in flows.iter().zip(&found.reservations) {
        if let Some(reservation) = reservation {
            let reserved = ledger.reserve_as(flow, reservation);
            debug_assert!(reserved.is_ok(), "the solver overfills a frame");
        }
    }
    let answer = |(flow, reservation): (&Flow, Option<_>)| match reservation {
        Some(reservation) => Ok(reservation),
        None => ledger.reserve(flow),
    };
    let answers = flows.iter().zip(found.reservations).map(answer).collect();
    (answers, Some(found.most))
}

impl FramedNetwork<'_> {
    /// What is to be reserved.
    pub fn demand(&self) -> Demand {
        let FramedNetwork { spec, .. } = self;
        let network = self.network;
        let outputs: Vec<_> = network.hops().filter(|&hop| self.has_frames(hop)).collect();
        let margin = spec.guard + Nanos(2 * self.clock_error().0);
        let capacity = |hop: &Hop| capacity(self.network.link(*hop).rate, &spec.time, margin);
        let numbers: HashMap<Hop, OutputId> =
            outputs.iter().copied().zip((0..).map(OutputId)).collect();
        let paths = self.plan.class_paths();
        let mut stretches = Vec::new();
        for (id, class) in self.plan.leaves().filter(|(_, class)| class.wants_frames()) {
            let path = paths[id.index()];
            let packets = self.packets(class).and_then(|packets| packets.try_into().ok());
            let Some(packets) = packets else { continue };
            for hops in self.stretches(path) {
                let hop = |hop: &Hop| tdp::Hop {
                    output: numbers[hop],
                    delay: self.forwarding_delay(network.between(*hop)[0]),
                    spare: spec.spare,
                    propagation: 0,
                };
                let over = path[hops.clone()].iter().map(hop).collect();
                let flow = Flow { path: over, packets, packet: self.plan.max_packet(class) };
                let frames = path[hops.clone()].iter().map(|hop| class.frame_at(hop.link));
                let frames: Option<Vec<u32>> = frames.collect();
                let chosen =
                    frames.and_then(|frames| flow.reservation_in(spec.period(), &frames).ok());
                stretches.push(Stretch { class: id, hops, flow, chosen });
            }
        }
        let capacities = outputs.iter().map(capacity).collect();
        Demand { outputs, capacities, stretches }
    }

    /// The parts of a path on which all outputs have frames.
    fn stretches(&self, path: &[Hop]) -> Vec<Range<usize>> {
        let mut stretches: Vec<Range<usize>> = Vec::new();
        for (at, _) in path.iter().enumerate().filter(|(_, hop)| self.has_frames(**hop)) {
            match stretches.last_mut() {
                Some(last) if last.end == at => last.end = at + 1,
                _ => stretches.push(at..at + 1),
            }
        }
        stretches
    }

    /// d of a node: its own, the plan's, or the smallest that the links to it allow.
    fn forwarding_delay(&self, node: NodeId) -> u32 {
        let own = self.network.nodes[node.index()].forwarding_delay;
        own.or(self.spec.forwarding_delay).unwrap_or_else(|| {
            let to_it = |hop: &Hop| self.network.between(*hop)[1] == node && self.has_frames(*hop);
            let delays = self.network.hops().filter(to_it).map(|hop| self.shortest_delay(hop));
            delays.max().unwrap_or(2)
        })
    }

    /// Whether an output divides time into frames.
    pub fn has_frames(&self, hop: Hop) -> bool {
        self.plan.scheduling_at(hop).scheduler == self.plan.scheduler
    }

    /// The settings of an output with frames, for packets that come up to `ahead` frames ahead.
    pub fn settings(&self, hop: Hop, ahead: u32) -> TdpSettings {
        let TdpSpec { time, guard, late, .. } = *self.spec;
        TdpSettings { time, rate: self.network.link(hop).rate, delay: ahead, guard, late }
    }

    /// The error of any node's clock that the network is to bear.
    pub fn clock_error(&self) -> Nanos {
        self.spec.clock_error.unwrap_or_else(|| self.largest_clock_error())
    }

    /// The largest error that any clock may have: what the network is to bear, or more where a
    /// node's clock is said to be worse.
    pub fn worst_clock_error(&self) -> Nanos {
        self.clock_error().max(self.largest_clock_error())
    }

    /// The largest error of any node's clock.
    fn largest_clock_error(&self) -> Nanos {
        let errors = self.network.nodes.iter().map(|node| node.clock.largest_error());
        errors.max().unwrap_or_default()
    }
}

impl Plan {
    /// How many frames ahead an edge gives out for a class: those of all the packets that it may
    /// send at once, and of those that have come early from a stretch before; but no more than
    /// [`MOST_AHEAD`].
    pub fn frames_ahead(&self, class: &Class, contract: &Contract) -> u32 {
        let at_once = self.packets_at_once(class);
        let gap = u64::from(contract.slots.period).div_ceil(contract.slots.packets.into());
        // A private link after a stretch takes up to two frames and two gaps, its packets come in
        // the course of a frame, and clocks differ by less than one.
        let ahead = at_once.saturating_add(2).saturating_mul(gap).saturating_add(5);
        ahead.min(MOST_AHEAD.into()) as u32
    }

    /// The packets that may come of a class for which time-driven priority reserves frames: a
    /// packet takes the place that is reserved for one of its largest, however short it is. `None`
    /// for a class without frames.
    pub fn framed_line(&self, class: &Class) -> Option<PacketLine> {
        let SchedulerSpec::Tdp(_) = self.scheduler else { return None };
        let at_once = self.packets_at_once(class);
        match (class.gap, slowest(class)) {
            _ if !class.wants_frames() => None,
            (Some(gap), _) => {
                Some(PacketLine { at_once, packets: class.count.into(), every: gap.0.into() })
            }
            (None, Some(slowest)) => {
                let largest = u128::from(self.max_packet(class).0.max(1));
                let every = largest * u128::from(NANOBITS_PER_BYTE);
                Some(PacketLine { at_once, packets: slowest.rate.0, every })
            }
            (None, None) => None,
        }
    }

    /// The packets that a class may send ahead of its rate: one a stream, or the bucket of that
    /// rate.
    pub fn packets_at_once(&self, class: &Class) -> u64 {
        match (class.gap, slowest(class)) {
            (None, Some(slowest)) => slowest.bucket.0.div_ceil(self.max_packet(class).0.max(1)),
            _ => class.count.into(),
        }
    }
}

/// The bucket that a class's traffic keeps to in the long run.
fn slowest(class: &Class) -> Option<TokenBucket> {
    class.arrival.as_ref().and_then(|arrival| TokenBucket::slowest(&arrival.buckets))
}
