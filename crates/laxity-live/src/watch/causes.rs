//! What delayed packets between two taps, as far as taps show it.
//!
//! Whatever was seen to leave between the arrival of a packet and its own leaving delayed it. The
//! rules by which a shaper chose that are not seen.

use std::collections::VecDeque;

use laxity::explain::{self, Rule};
use laxity::packet::{ClassId, Packet};
use laxity::units::{Bytes, Nanos};
use laxity_answers::why::{Cause, HopDelay, PacketDelay, Part};
use laxity_plan::Plan;
use laxity_plan::classify::Classifier;
use laxity_plan::matching::Headers;
use laxity_plan::model::Class;

use super::content::{Content, Contents};
use super::measuring::{Settings, TapFrame, TapPlace, class_of_the_rest};
use super::order::Order;
use super::pairing::Pairing;
use super::taps::Behind;

/// The packets of two taps, each with what delayed it.
///
/// The link is taken for one of the plan's rate. A packet occupies it for its length at that rate
/// from its stamp on, or up to its stamp if it was stamped where it [arrived](Behind::Arriving),
/// and never longer than until the next packet, or since the last one.
pub struct Causes<'a> {
    plan: &'a Plan,
    /// The class of packets that no class takes, and of packets that were not seen to arrive.
    others: ClassId,
    behind: Behind,
    classifier: Classifier,
    rest: Option<ClassId>,
    contents: Contents,
    order: Order<Event>,
    pairing: Pairing<Packet>,
    timeout: Nanos,
    /// What has left, as long as a packet may have waited for it.
    left: VecDeque<Transmission>,
    arrived: u64,
}

/// What happened; arrivals before departures of one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrived { class: ClassId, key: u64, length: u32 },
    Left { key: u64, length: u32 },
}

/// A time in which the link was occupied.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    class: ClassId,
    start: Nanos,
    end: Nanos,
}

/// The plan with one more class, for packets of none.
pub fn with_other_traffic(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    let leaf = plan.leaves().next().map(|(_, leaf)| leaf.clone());
    let name = "other traffic".to_string();
    plan.classes.extend(leaf.map(|leaf| Class { name, deadline: None, ..leaf }));
    plan
}

impl<'a> Causes<'a> {
    /// For packets of a plan [with other traffic](with_other_traffic).
    pub fn new(plan: &'a Plan, behind: Behind, settings: Settings) -> Self {
        let others = ClassId::from_index(plan.classes.len() - 1);
        let mut own = plan.clone();
        own.classes.pop();
        Causes {
            plan,
            others,
            behind,
            classifier: Classifier::new(&own),
            rest: class_of_the_rest(&own),
            contents: Contents::new(settings.translated),
            order: Order::new(settings.packets),
            pairing: Pairing::new(settings.timeout, settings.packets),
            timeout: settings.timeout,
            left: VecDeque::new(),
            arrived: 0,
        }
    }

    /// A tap shows a frame.
    pub fn see(&mut self, seen: TapFrame<'_>) {
        let TapFrame { tapped, at, frame, segments } = seen;
        let Causes { plan, others, classifier, rest, contents, order, .. } = self;
        let class = match tapped {
            TapPlace::Before => classifier.class(&Headers::from_ethernet(frame)).or(*rest),
            TapPlace::Behind => None,
        };
        let class = class.unwrap_or(*others);
        contents.each_packet(frame, segments, |Content { key, length }| {
            let length = plan.link.accounted(length);
            let event = match tapped {
                TapPlace::Before => Event::Arrived { class, key, length },
                TapPlace::Behind => Event::Left { key, length },
            };
            order.add(at, event);
        });
    }

    /// Both taps have shown all that passed before this time. `each` gets the packets that left.
    pub fn settle(&mut self, settled: Nanos, each: &mut dyn FnMut(PacketDelay)) {
        while let Some((at, event)) = self.order.next(settled) {
            match event {
                Event::Arrived { class, key, length } => {
                    let (handle, arrival) = (self.arrived, at);
                    self.arrived += 1;
                    let packet = Packet { class, length, arrival, handle, ..Packet::default() };
                    self.pairing.arrive(key, at, packet);
                }
                Event::Left { key, length } => {
                    if let Some(delay) = self.leave(at, key, length) {
                        each(delay);
                    }
                }
            }
        }
        self.pairing.expire(settled, drop);
        let horizon = settled.saturating_sub(self.timeout);
        while self.left.pop_front_if(|first| first.end < horizon).is_some() {}
    }

    fn leave(&mut self, at: Nanos, key: u64, length: u32) -> Option<PacketDelay> {
        let packet = self.pairing.leave(key).map(|pair| pair.what);
        let class = packet.map_or(self.others, |packet| packet.class);
        let takes = self.plan.link.whole_rate().time_for(Bytes(length.into()));
        let last = self.left.back_mut();
        let own = match self.behind {
            Behind::Sent => {
                if let Some(last) = last {
                    last.end = last.end.min(at);
                }
                Transmission { class, start: at, end: at.saturating_add(takes) }
            }
            Behind::Arriving => {
                let free_at = last.map_or(Nanos::ZERO, |last| last.end);
                Transmission { class, start: at.saturating_sub(takes).max(free_at), end: at }
            }
        };
        let delay = packet.map(|packet| self.delay(packet, own, at));
        self.left.push_back(own);
        delay
    }

    /// What delayed a packet until `end`, before it is counted among those that left.
    fn delay(&self, packet: Packet, own: Transmission, end: Nanos) -> PacketDelay {
        let arrival = packet.arrival;
        let start = own.start.clamp(arrival, end);
        let mut parts = Vec::new();
        let mut now = arrival;
        let first = self.left.partition_point(|other| other.end <= arrival);
        for other in self.left.range(first..) {
            let begin = other.start.clamp(now, start);
            add(&mut parts, explain::Cause::Held(Rule::Unseen), begin - now);
            let cause = if other.start < arrival {
                explain::Cause::OnLink(other.class)
            } else {
                explain::Cause::Before(other.class, Rule::Unseen)
            };
            now = other.end.clamp(begin, start);
            add(&mut parts, cause, now - begin);
        }
        add(&mut parts, explain::Cause::Held(Rule::Unseen), start - now);
        if end > start {
            parts.push(Part { cause: Cause::Transmission, time: end - start });
        }
        let deadline = self.plan.classes[packet.class.index()].deadline;
        let due = deadline.map(|deadline| arrival.saturating_add(deadline));
        let hops = vec![HopDelay { hop: None, arrival, start, departure: end, parts }];
        PacketDelay { packet, end, due, hops }
    }
}

/// Adds to a cause.
fn add(parts: &mut Vec<Part>, cause: explain::Cause, time: Nanos) {
    let cause = Cause::Wait(cause);
    match parts.iter_mut().find(|part| part.cause == cause) {
        Some(part) => part.time += time,
        None if time > Nanos::ZERO => parts.push(Part { cause, time }),
        None => {}
    }
}

#[cfg(test)]
mod tests;
