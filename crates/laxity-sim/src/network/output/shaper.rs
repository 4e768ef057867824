//! A shaper whose rate is found, and the link behind it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use laxity::autorate::{Autorate, Second, Seconds};
use laxity::histogram::Delays;
use laxity::link::Link;
use laxity::packet::Packet;
use laxity::units::{Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::model::AutorateSpec;

use crate::source::random::{Generator, Sampler};
use crate::summary::{AutorateClass, AutorateSummary, DelaySummary};

/// The bytes of a probe on the link: an ICMP echo of 56 bytes in a frame of Ethernet.
const PROBE: u32 = 98;

/// The purpose of its generator.
pub(crate) const SHAPER: u64 = 6;

/// The controller of an output's rate, and what it learns from the link behind the output.
///
/// Probes and answers are no events of the network: they are made up for whenever the output
/// chooses or sends. What they found out in the meantime changes nothing before that.
pub(crate) struct Shaper {
    spec: Arc<AutorateSpec>,
    autorate: Autorate,
    behind: LinkBehind,
    /// Probes that come back, by time and number.
    answers: BinaryHeap<Reverse<(Nanos, u64)>>,
    seconds: Seconds,
    results: Results,
}

/// A link with one queue, first in, first out.
struct LinkBehind {
    link: Link,
    buffer: Option<u64>,
    /// When packets leave, and their bytes.
    queue: VecDeque<(Nanos, u32)>,
    queued: u64,
    round_trip: Nanos,
    jitter: Option<Sampler<Nanos>>,
    generator: Generator,
}

/// What was measured so far.
struct Results {
    measured_from: Nanos,
    seconds: Vec<Second>,
    queueing: Delays,
    /// By class.
    delays: Vec<Delays>,
    names: Vec<Option<String>>,
    /// When packets left the link behind, and their bytes, that are not counted yet.
    leaving: VecDeque<(Nanos, u32)>,
    carried: u64,
    lost: u64,
}

impl Shaper {
    /// The shaper of an output with this plan, if its rate is found.
    pub(crate) fn new(plan: &Plan, generator: Generator) -> Option<Box<Shaper>> {
        let spec = plan.link.autorate.clone()?;
        // Reflectors are as far as they are, however many answer.
        let autorate = Autorate::new(spec.settings, 1, Nanos::ZERO);
        let bounds = Arc::new(plan.bounds_by_rate()?);
        let (classes, allowance) = (plan.classes.len(), spec.settings.allowance());
        let name = |class: &laxity_plan::model::Class| class.is_leaf().then(|| class.name.clone());
        Some(Box::new(Shaper {
            seconds: Seconds::new(bounds, classes, allowance, autorate.rate(), Nanos::ZERO),
            autorate,
            behind: LinkBehind::new(&spec, generator),
            answers: BinaryHeap::new(),
            results: Results {
                measured_from: plan.run.warm_up,
                seconds: Vec::new(),
                queueing: Delays::default(),
                delays: vec![Delays::default(); classes],
                names: plan.classes.iter().map(name).collect(),
                leaving: VecDeque::new(),
                carried: 0,
                lost: 0,
            },
            spec,
        }))
    }

    /// The rate at a time, by all that came back until then.
    #[inline(never)]
    pub(crate) fn rate(&mut self, now: Nanos) -> Rate {
        while let Some(next) = self.next_event().filter(|next| *next <= now) {
            self.close_seconds(next);
            match self.answers.peek() {
                Some(Reverse((time, number))) if *time <= next => {
                    let queueing = self.autorate.answered(next, *number);
                    self.answers.pop();
                    if let Some(queueing) = queueing {
                        self.seconds.queues(queueing);
                        self.results.queueing.record(queueing);
                    }
                }
                _ => self.probe(next),
            }
            self.seconds.set_rate(next, self.autorate.rate());
        }
        self.autorate.rate()
    }

    /// A packet has left the output. Returns when it leaves the link behind; `None` if there is no
    /// room for it.
    #[inline(never)]
    pub(crate) fn send(&mut self, packet: &Packet, departure: Nanos) -> Option<Nanos> {
        self.rate(departure);
        self.close_seconds(departure);
        self.autorate.carries(packet.length.into());
        let Some(left) = self.behind.pass(departure, packet.length) else {
            self.results.lost += u64::from(packet.arrival >= self.results.measured_from);
            return None;
        };
        let delay = left.saturating_sub(packet.arrival);
        self.seconds.sends(packet.class, delay, packet.length);
        self.results.leaves(packet, delay, left);
        Some(left)
    }

    /// What was measured until the end of the run.
    pub(crate) fn finish(&mut self, end: Nanos) -> AutorateSummary {
        self.rate(end);
        self.close_seconds(end);
        let Results { measured_from, seconds, queueing, delays, names, leaving, carried, lost } =
            &mut self.results;
        let last = leaving.iter().take_while(|(left, _)| *left <= end);
        let carried = *carried + last.map(|(_, bytes)| u64::from(*bytes)).sum::<u64>();
        let could = self.spec.carried_by(end).saturating_sub(self.spec.carried_by(*measured_from));
        let settings = &self.spec.settings;
        let count = |holds: bool| seconds.iter().filter(|one| one.holds == Some(holds)).count();
        let class = |(name, delays): (&Option<String>, &Delays)| {
            Some(AutorateClass { name: name.clone()?, delay_ns: DelaySummary::new(delays) })
        };
        AutorateSummary {
            rule: settings.rule.name(),
            from_bps: settings.from.0,
            to_bps: settings.to.0,
            mean_bps: (!seconds.is_empty()).then(|| {
                let sum: f64 = seconds.iter().map(|second| second.mean.0 as f64).sum();
                sum / seconds.len() as f64
            }),
            used: (could > 0).then(|| carried as f64 / could as f64),
            lost: *lost,
            queueing_ns: DelaySummary::new(queueing),
            seconds_kept: count(true) as u64,
            seconds_missed: count(false) as u64,
            classes: names.iter().zip(delays.iter()).filter_map(class).collect(),
            could: seconds.iter().map(|second| self.spec.carried_in(second)).collect(),
            seconds: std::mem::take(seconds),
        }
    }

    /// When a probe is sent or comes back next.
    fn next_event(&self) -> Option<Nanos> {
        let answer = self.answers.peek().map(|Reverse((time, _))| *time);
        answer.into_iter().chain([self.autorate.next_poll()]).min()
    }

    fn probe(&mut self, now: Nanos) {
        let Some(probe) = self.autorate.poll(now) else { return };
        self.autorate.carries(PROBE.into());
        if let Some(left) = self.behind.pass(now, PROBE) {
            let back = left.saturating_add(self.behind.draw_round_trip());
            self.answers.push(Reverse((back, probe.number)));
        }
    }

    fn close_seconds(&mut self, now: Nanos) {
        while let Some(second) = self.seconds.next(now) {
            self.results.seconds.push(second);
        }
    }
}

impl LinkBehind {
    fn new(spec: &AutorateSpec, generator: Generator) -> Self {
        let sampler = |dist| Sampler::new(dist).expect("reading refuses what cannot be drawn from");
        LinkBehind {
            link: spec.link_behind(),
            buffer: spec.behind.buffer.map(|buffer| buffer.0),
            queue: VecDeque::new(),
            queued: 0,
            round_trip: spec.behind.round_trip,
            jitter: spec.behind.jitter.map(sampler),
            generator,
        }
    }

    /// A packet comes to its queue; returns when its last bit leaves, unless it is dropped.
    fn pass(&mut self, now: Nanos, length: u32) -> Option<Nanos> {
        if let Some(buffer) = self.buffer {
            while let Some(&(_, bytes)) = self.queue.front().filter(|(left, _)| *left <= now) {
                self.queue.pop_front();
                self.queued -= u64::from(bytes);
            }
            if self.queued + u64::from(length) > buffer {
                return None;
            }
        }
        let left = self.link.transmit(self.link.free_at().max(now), length);
        if self.buffer.is_some() {
            self.queue.push_back((left, length));
            self.queued += u64::from(length);
        }
        Some(left)
    }

    fn draw_round_trip(&mut self) -> Nanos {
        let jitter = self.jitter.as_mut().map(|jitter| jitter.draw(&mut self.generator));
        self.round_trip.saturating_add(jitter.unwrap_or_default())
    }
}

impl Results {
    fn leaves(&mut self, packet: &Packet, delay: Nanos, left: Nanos) {
        if packet.arrival >= self.measured_from {
            self.delays[packet.class.index()].record(delay);
        }
        // What leaves after the end does not count, and only the end knows when that is.
        while let Some(&(before, bytes)) = self.leaving.front().filter(|_| self.leaving.len() > 64)
        {
            if before > left.saturating_sub(delay) {
                break;
            }
            self.leaving.pop_front();
            self.carried += u64::from(bytes);
        }
        if left >= self.measured_from {
            self.leaving.push_back((left, packet.length));
        }
    }
}
