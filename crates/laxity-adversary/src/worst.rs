//! The longest delay that can be found.
//!
//! Traffic is drawn, and changed a little again and again: what delays the target's slowest packet
//! longer stays, and of equal traffic that with fewer packets. Beside changes at random there are
//! those that let a burst meet the slowest packet at a link of its way, and over a path the best of
//! each round has its bursts meet the target at link after link. Many changed copies run one after
//! another in one simulation, with pauses in which queues empty and buckets fill; what is found is
//! run once more alone, and counts as it is measured there.

#[cfg(test)]
mod tests;

use std::fmt::Write;

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use laxity_sim::error::SimError;
use rand::{RngExt, SeedableRng};

use crate::Generator;
use crate::align::Meeting;
use crate::arrival::{Arrival, FIRST};
use crate::senders::Senders;
pub use crate::target::{Place, Target};
use crate::traffic::{Ledger, Traffic};
use crate::trial::{Sighting, Trial};

/// The longest delay that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Longest {
    /// From a packet's arrival until its last bit has left the link or come to its receiver.
    pub delay: Nanos,
    /// When that packet arrived.
    pub arrival: Nanos,
    /// The packets, in the order of time.
    pub packets: Vec<TimedPacket>,
}

/// A packet that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedPacket {
    /// Time of arrival.
    pub time: Nanos,
    /// Its class.
    pub class: ClassId,
    /// Index of its source in the plan; 0 on a link.
    pub source: usize,
    /// Number of the source's copy, or of the class's stream.
    pub flow: u32,
    /// Length in bytes.
    pub length: u32,
}

/// Copies of traffic that are changed and simulated together.
const TOGETHER: usize = 32;
/// Rounds of copies in a row that bring nothing, after which traffic is drawn anew.
const PATIENCE: u32 = 12;

/// Searches the longest delay of a target with `packets` simulated packets; deterministic in the
/// seed. `None` if none of the target's packets arrives.
///
/// # Errors
/// If the simulator cannot go on.
pub fn longest(
    place: &Place<'_>,
    target: &Target,
    packets: u64,
    seed: u64,
) -> Result<Option<Longest>, SimError> {
    let senders = Senders::new(place, target);
    if !(0..senders.all.len()).any(|feed| senders.is_target(feed, target)) {
        return Ok(None);
    }
    let trial = Trial { place, senders: &senders, target };
    let mut search = Search {
        trial,
        draw: Generator::seed_from_u64(seed),
        ledger: Ledger::new(&senders.scene, 0),
        spent: 0,
    };
    let mut best: Option<Outcome> = None;
    while search.spent < packets {
        let found = search.climb(packets)?;
        if found.delay > best.as_ref().map_or(0, |best| best.delay) {
            best = Some(found);
        }
    }
    let sent = |arrival: &Arrival| {
        let sender = &senders.all[usize::from(arrival.feed)];
        let packet = crate::senders::simulated(sender, arrival);
        TimedPacket {
            time: packet.time,
            class: packet.class,
            source: sender.source,
            flow: packet.flow.0,
            length: packet.length,
        }
    };
    Ok(best.map(|best| Longest {
        delay: Nanos(best.delay),
        arrival: Nanos(best.seen.set_out),
        packets: best.arrivals.iter().map(sent).collect(),
    }))
}

/// Effect of traffic on an idle network.
#[derive(Clone)]
struct Outcome {
    delay: u64,
    arrivals: Vec<Arrival>,
    seen: Sighting,
}

struct Search<'a> {
    trial: Trial<'a>,
    draw: Generator,
    ledger: Ledger,
    spent: u64,
}

impl Search<'_> {
    /// From traffic that is drawn to traffic that no change makes worse.
    fn climb(&mut self, budget: u64) -> Result<Outcome, SimError> {
        let (Senders { scene, .. }, draw) = (self.trial.senders, &mut self.draw);
        let target = self.trial.target.class.index();
        let drawn = (0..TOGETHER).map(|number| match number % 4 {
            0 => Traffic::greedy(scene, draw),
            _ => Traffic::draw(scene, draw, target, 0),
        });
        let drawn = drawn.collect();
        let drawn = self.best(drawn)?;
        let (mut top, mut now) = self.met(drawn)?;
        let mut in_vain = 0;
        while in_vain < PATIENCE && self.spent < budget {
            let changed = (0..TOGETHER).map(|_| self.changed(&top, &now.seen));
            let changed = changed.collect();
            let other = self.best(changed)?;
            let (other, then) = self.met(other)?;
            in_vain = if then.delay > now.delay { 0 } else { in_vain + 1 };
            if (then.delay, now.arrivals.len()) > (now.delay, then.arrivals.len()) {
                (top, now) = (other, then);
            }
        }
        Ok(now)
    }

    /// Lets others meet the target link by link along its path, the first one first: what moves at
    /// one link changes when packets come to those behind. What does no good stays as it was.
    fn met(&mut self, traffic: Traffic) -> Result<(Traffic, Outcome), SimError> {
        let mut now = self.alone(&traffic)?;
        let mut top = traffic;
        for link in 0..now.seen.slowest.len() {
            for what in [Meeting::Beginning, Meeting::Bursts, Meeting::Slowest] {
                let mut other = top.clone();
                other.meet(&self.trial, &now.seen, link, what);
                let then = self.alone(&other)?;
                if then.delay > now.delay {
                    (top, now) = (other, then);
                }
            }
        }
        Ok((top, now))
    }

    /// Traffic with something changed, once or more.
    fn changed(&mut self, traffic: &Traffic, seen: &Sighting) -> Traffic {
        let scene = &self.trial.senders.scene;
        let mut other = traffic.clone();
        for _ in 0..1 + self.draw.random_range(0..3u32) * self.draw.random_range(0..2) {
            match self.draw.random_range(0..3u32) {
                0 => other.align(scene, seen, &mut self.draw),
                _ => other.change(scene, &mut self.draw, 0),
            }
        }
        other
    }

    /// The traffic that delays the target longest, of several.
    fn best(&mut self, all: Vec<Traffic>) -> Result<Traffic, SimError> {
        let delays = if self.trial.senders.begins_anew {
            all.iter().map(|one| Ok(self.alone(one)?.delay)).collect::<Result<Vec<_>, _>>()?
        } else {
            self.together(&all)?
        };
        let packets = |at: &usize| std::cmp::Reverse(all[*at].packets());
        let best = (0..all.len()).max_by_key(|at| (delays[*at], packets(at))).unwrap_or(0);
        let traffic = all.into_iter().nth(best);
        Ok(traffic.expect("there are several"))
    }

    /// The longest delay under each of these, in one simulation.
    fn together(&mut self, all: &[Traffic]) -> Result<Vec<u64>, SimError> {
        self.ledger = Ledger::new(&self.trial.senders.scene, 0);
        let (mut arrivals, mut begins) = (Vec::new(), Vec::new());
        for traffic in all {
            begins.push(self.ledger.end());
            let from = arrivals.len();
            self.ledger.play(traffic, &mut arrivals);
            let ends = self.trial.ends(&arrivals[from..]);
            self.ledger.ends(ends.max(self.ledger.end()));
        }
        self.spent += arrivals.len() as u64;
        self.trial.delays(&arrivals, &begins)
    }

    /// This traffic alone, from the first packet on.
    fn alone(&mut self, traffic: &Traffic) -> Result<Outcome, SimError> {
        let mut arrivals = Vec::new();
        Ledger::new(&self.trial.senders.scene, 0).play(traffic, &mut arrivals);
        let is_phased = self.trial.senders.begins_anew
            || matches!(self.trial.place.plan().scheduler, SchedulerSpec::Tdp(_));
        let first = arrivals.first().map_or(FIRST, |arrival| arrival.time);
        if !is_phased {
            arrivals.iter_mut().for_each(|arrival| arrival.time -= first - FIRST);
        }
        self.spent += arrivals.len() as u64;
        let (delay, seen) = self.trial.watched(&arrivals)?;
        Ok(Outcome { delay, arrivals, seen })
    }
}

/// Packets as an arrivals CSV, which `laxity run --arrivals` takes.
pub fn csv(plan: &Plan, packets: &[TimedPacket]) -> String {
    let is_network = plan.network.is_some();
    let with_flows = packets.iter().any(|packet| packet.flow > 0);
    let mut text = String::from(if is_network {
        "time_ns,source,class,length"
    } else {
        "time_ns,class,length"
    });
    text += if with_flows { ",flow\n" } else { "\n" };
    for TimedPacket { time, class, source, flow, length } in packets {
        let source = if is_network { format!("{},", source + 1) } else { String::new() };
        let flow = if with_flows { format!(",{flow}") } else { String::new() };
        let class = &plan.classes[class.index()].name;
        let _ = writeln!(text, "{},{source}{},{length}{flow}", time.0, quoted(class));
    }
    text
}

/// A field of a CSV.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
