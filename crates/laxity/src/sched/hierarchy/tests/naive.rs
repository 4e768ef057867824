//! Schedulers within a leaf, as simple as they can be: linear scans of one list.

use std::boxed::Box;
use std::vec::Vec;

use crate::packet::Packet;
use crate::sched::edf::{Assign, BestEffort};
use crate::sched::{Edf, Fifo};
use crate::scheduler::{Backlog, Criterion, Dispatch, DropReason, DropSink, Scheduler};
use crate::units::Nanos;

/// How a leaf's packets leave.
#[derive(Clone, Debug)]
pub(super) enum Rule {
    ByArrival,
    /// By deadline; each class has one.
    ByDeadline(Vec<Nanos>),
    /// The same without what is late when it would leave.
    InTime(Vec<Nanos>),
    /// By arrival, but each so long after it at the earliest.
    After(Nanos),
    /// By arrival, but a demoted packet empties the queue when it comes, and stays out.
    Emptied,
}

/// A list of packets in the order of their arrival.
#[derive(Clone, Debug)]
pub(super) struct Naive {
    rule: Rule,
    packets: Vec<Packet>,
}

impl Rule {
    pub(super) fn naive(&self) -> Box<dyn Scheduler + Send> {
        Box::new(Naive { rule: self.clone(), packets: Vec::new() })
    }

    /// The scheduler that a user would take, if there is one.
    pub(super) fn scheduler(&self) -> Box<dyn Scheduler + Send> {
        match self {
            Rule::ByArrival => Box::new(Fifo::new()),
            Rule::ByDeadline(deadlines) => {
                let deadlines: Vec<_> = deadlines.iter().copied().map(Some).collect();
                Box::new(Edf::new(&deadlines, BestEffort::by_arrival(Assign::Background)))
            }
            _ => self.naive(),
        }
    }
}

impl Naive {
    fn deadline(&self, packet: &Packet) -> Option<Nanos> {
        match &self.rule {
            Rule::ByDeadline(relative) | Rule::InTime(relative) => {
                Some(packet.arrival + relative[packet.class.index()])
            }
            _ => None,
        }
    }

    fn first(&self) -> Option<usize> {
        (0..self.packets.len()).min_by_key(|at| (self.deadline(&self.packets[*at]), *at))
    }
}

impl Scheduler for Naive {
    fn enqueue(&mut self, _: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.packets.push(packet);
        if matches!(self.rule, Rule::Emptied) && packet.demoted {
            self.packets.drain(..).for_each(|packet| drops.dropped(packet, DropReason::QueueFull));
        }
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        if self.next_ready(now) != Some(now) {
            return None;
        }
        while let Some(first) = self.first() {
            let packet = self.packets.remove(first);
            let deadline = self.deadline(&packet);
            if matches!(self.rule, Rule::InTime(_)) && deadline < Some(now) {
                drops.dropped(packet, DropReason::Late);
                continue;
            }
            let criterion = match deadline {
                Some(_) => Criterion::EarliestDeadline,
                None => Criterion::ArrivalOrder,
            };
            return Some(Dispatch { packet, deadline, criterion });
        }
        None
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        let first = &self.packets[self.first()?];
        match self.rule {
            Rule::After(time) => Some((first.arrival + time).max(now)),
            _ => Some(now),
        }
    }

    fn backlog(&self) -> Backlog {
        let mut backlog = Backlog::default();
        self.packets.iter().for_each(|packet| backlog.add(packet.length));
        backlog
    }

    fn footprint(&self) -> usize {
        0
    }
}
