//! DWCS as the paper tells it: streams in a list that is searched from end to end, tolerances as
//! pairs of numbers, one turn of the loop for every missed deadline.

use core::cmp::Ordering;
use std::collections::VecDeque;
use std::vec::Vec;

use crate::explain::Rule;
use crate::packet::{ClassId, Packet};
use crate::sched::dwcs::{DwcsSettings, Late, Precedence, Stream, Streams, Violation};
use crate::scheduler::Criterion;
use crate::scheduler::{Dispatch, DropReason, DropSink};
use crate::units::Nanos;

pub(super) struct Reference {
    settings: DwcsSettings,
    /// Calls of `dequeue` with packets queued.
    calls: u64,
    arrivals: u64,
    classes: Vec<Class>,
    /// For each stream that waited when one was served last: its class, its number there, and the
    /// rule.
    pub(super) rules: Vec<(ClassId, usize, Rule)>,
}

struct Class {
    is_open: bool,
    streams: Vec<Queue>,
}

struct Queue {
    stream: Stream,
    /// x' and y'.
    lost: u64,
    of: u64,
    /// Of the head packet, or else of the last one.
    deadline: u64,
    packets: VecDeque<Queued>,
}

struct Queued {
    packet: Packet,
    arrival: u64,
    order: u64,
}

impl Reference {
    pub(super) fn new(settings: DwcsSettings, classes: &[Streams]) -> Self {
        let mut reference =
            Reference { settings, calls: 0, arrivals: 0, classes: Vec::new(), rules: Vec::new() };
        classes.iter().for_each(|&class| {
            reference.add(class);
        });
        reference
    }

    pub(super) fn add(&mut self, class: Streams) -> ClassId {
        let streams = (0..class.count).map(|_| Queue::new(class.stream)).collect();
        let class = Class { is_open: true, streams };
        let is_gone = |class: &Class| !class.is_open && class.is_empty();
        let number = self.classes.iter().position(is_gone).unwrap_or(self.classes.len());
        if number == self.classes.len() {
            self.classes.push(class);
        } else {
            self.classes[number] = class;
        }
        ClassId(number as u32)
    }

    pub(super) fn remove(&mut self, class: ClassId) -> bool {
        let found = self.classes.get_mut(class.index());
        found.is_some_and(|class| core::mem::replace(&mut class.is_open, false))
    }

    pub(super) fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        let found = self.classes.get_mut(packet.class.index());
        let Some(class) = found.filter(|class| class.is_open) else {
            return drops.dropped(packet, DropReason::NoClass);
        };
        let number = packet.flow.0 as usize % class.streams.len();
        let stream = &mut class.streams[number];
        self.arrivals += 1;
        stream.packets.push_back(Queued { packet, arrival: now.0, order: self.arrivals });
        if stream.packets.len() == 1 {
            stream.set_deadline();
        }
    }

    pub(super) fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        if self.classes.iter().all(Class::is_empty) {
            return None;
        }
        if self.calls.is_multiple_of(self.settings.check_every.into()) {
            for stream in self.classes.iter_mut().flat_map(|class| &mut class.streams) {
                stream.miss_deadlines(now.0, self.settings.violation, drops);
            }
        }
        self.calls += 1;
        let precedence = self.settings.precedence;
        self.note_rules();
        let streams = self.classes.iter_mut().flat_map(|class| &mut class.streams);
        let backlogged = streams.filter(|stream| !stream.packets.is_empty());
        let first = backlogged.min_by(|one, other| one.compare(other, precedence))?;
        let deadline = first.stream.gap.map(|_| Nanos(first.deadline));
        first.adjust_served(precedence);
        let packet = first.packets.pop_front()?.packet;
        first.set_deadline();
        Some(Dispatch { packet, deadline, criterion: Criterion::WindowConstraint })
    }

    /// By which part of Table 1 the first stream comes before each other one.
    fn note_rules(&mut self) {
        let precedence = self.settings.precedence;
        let numbered = self.classes.iter().zip((0..).map(ClassId)).flat_map(|(class, id)| {
            class.streams.iter().enumerate().map(move |(number, stream)| (id, number, stream))
        });
        let waiting: Vec<_> =
            numbered.filter(|(_, _, stream)| !stream.packets.is_empty()).collect();
        let first = waiting.iter().min_by(|one, other| one.2.compare(other.2, precedence));
        let Some((_, _, first)) = first else { return };
        let rule = |other: &Queue| {
            let is_zero = first.lost == 0 && other.lost == 0;
            let same_ratio = first.lost * other.of == other.lost * first.of;
            let same_tolerance = same_ratio && (!is_zero || first.of == other.of);
            let same_deadline = first.due() == other.due();
            match precedence {
                _ if same_tolerance && same_deadline && first.lost == other.lost => {
                    Rule::ArrivalOrder
                }
                Precedence::LossFirst if !same_tolerance => Rule::LossTolerance,
                Precedence::LossFirst if is_zero => Rule::ArrivalOrder,
                Precedence::LossFirst if same_deadline => Rule::LossTolerance,
                Precedence::LossFirst => Rule::EarlierDeadline,
                Precedence::DeadlineFirst if same_deadline => Rule::LossTolerance,
                Precedence::DeadlineFirst => Rule::EarlierDeadline,
            }
        };
        self.rules =
            waiting.iter().map(|(id, number, stream)| (*id, *number, rule(stream))).collect();
    }

    pub(super) fn backlog(&self) -> usize {
        let streams = self.classes.iter().flat_map(|class| &class.streams);
        streams.map(|stream| stream.packets.len()).sum()
    }
}

impl Class {
    fn is_empty(&self) -> bool {
        self.streams.iter().all(|stream| stream.packets.is_empty())
    }
}

impl Queue {
    fn new(stream: Stream) -> Self {
        Queue {
            stream,
            lost: stream.loss.lost().into(),
            of: stream.loss.window().into(),
            deadline: 0,
            packets: VecDeque::new(),
        }
    }

    fn original(&self) -> (u64, u64) {
        (self.stream.loss.lost().into(), self.stream.loss.window().into())
    }

    fn set_deadline(&mut self) {
        if let (Some(gap), Some(head)) = (self.stream.gap, self.packets.front()) {
            self.deadline = self.deadline.max(head.arrival) + gap.0;
        }
    }

    fn miss_deadlines(&mut self, now: u64, violation: Violation, drops: &mut dyn DropSink) {
        let Some(gap) = self.stream.gap else { return };
        while !self.packets.is_empty() && self.deadline < now {
            self.adjust_missed(violation);
            if self.stream.late == Late::Drop {
                let dropped = self.packets.pop_front().unwrap();
                drops.dropped(dropped.packet, DropReason::Late);
                self.set_deadline();
            } else {
                self.deadline += gap.0;
            }
        }
    }

    /// (A)
    fn adjust_served(&mut self, precedence: Precedence) {
        if self.stream.gap.is_none() {
            return;
        }
        if self.of > self.lost {
            self.of -= 1;
        } else if precedence == Precedence::DeadlineFirst && self.lost > 0 {
            self.lost -= 1;
            self.of -= 1;
        }
        if self.lost == 0 && self.of == 0 {
            (self.lost, self.of) = self.original();
        }
    }

    /// (B) and (C)
    fn adjust_missed(&mut self, violation: Violation) {
        let (x, y) = self.original();
        if self.lost > 0 {
            self.lost -= 1;
            self.of -= 1;
            if self.lost == 0 && self.of == 0 {
                (self.lost, self.of) = (x, y);
            }
        } else if violation == Violation::Favour {
            self.lost = (2 * x).saturating_sub(1);
            self.of = 2 * y + self.of - 1;
        } else {
            (self.lost, self.of) = (x, y);
        }
    }

    /// The deadline of the head packet; never without one.
    fn due(&self) -> u64 {
        self.stream.gap.map_or(u64::MAX, |_| self.deadline)
    }

    /// Table 1, or its 2004 form.
    fn compare(&self, other: &Queue, precedence: Precedence) -> Ordering {
        let deadlines = self.due().cmp(&other.due());
        let numerators = self.lost.cmp(&other.lost);
        let arrival = |queue: &Queue| queue.packets[0].order;
        let first_come = arrival(self).cmp(&arrival(other));
        let are_zero = self.lost == 0 && other.lost == 0;
        let tolerances = (self.lost * other.of).cmp(&(other.lost * self.of));
        let highest_denominator = other.of.cmp(&self.of);
        match precedence {
            Precedence::LossFirst if are_zero => highest_denominator.then(first_come),
            Precedence::LossFirst => tolerances.then(deadlines).then(numerators).then(first_come),
            Precedence::DeadlineFirst if are_zero => {
                deadlines.then(highest_denominator).then(first_come)
            }
            Precedence::DeadlineFirst => {
                deadlines.then(tolerances).then(numerators).then(first_come)
            }
        }
    }
}
