//! Who delays whom on a link.

use std::collections::{BTreeMap, VecDeque};

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_forward::Event;
use laxity_plan::Plan;

use crate::status::WaitStatus;

/// How long packets of each class have waited, by the class that was sent meanwhile.
///
/// All packets that wait are counted together: the time in which a class has three packets waiting
/// counts three times.
pub(super) struct Waits {
    /// The number of packets that wait, by class.
    waiting: Vec<u64>,
    /// The packets that the link was given and has not sent: their classes, and when their last
    /// bits leave. The first one is being sent.
    line: VecDeque<(ClassId, Nanos)>,
    /// Up to when it has counted.
    now: Nanos,
    /// In ns: a row for each class that waited, which has a place for each class that was sent and
    /// one for the time in which none was. Empty if there are too many classes.
    times: Vec<u64>,
}

/// Plans of more classes are not counted: each event takes time that grows with their number.
const MOST_CLASSES: usize = 64;

impl Waits {
    /// Of a plan of this many classes, from now on.
    pub(super) fn new(classes: usize, now: Nanos) -> Waits {
        let counted = if classes <= MOST_CLASSES { classes } else { 0 };
        Waits {
            waiting: vec![0; counted],
            line: VecDeque::new(),
            now,
            times: vec![0; counted * (counted + 1)],
        }
    }

    /// Begins anew where `queued` packets of each class wait: events were lost.
    pub(super) fn begin(&mut self, now: Nanos, queued: impl IntoIterator<Item = u64>) {
        self.line.clear();
        self.now = now;
        self.waiting.iter_mut().zip(queued).for_each(|(waiting, queued)| *waiting = queued);
    }

    /// Counts up to an event.
    pub(super) fn add(&mut self, event: &Event) {
        if self.waiting.is_empty() {
            return;
        }
        match event {
            Event::Arrived(arrived) => {
                self.advance(arrived.time);
                self.wait(arrived.class);
            }
            Event::Dropped(dropped) => {
                self.advance(dropped.time);
                self.leave(dropped.packet.class);
            }
            Event::Sent(sent) => {
                self.advance(sent.start);
                if self.line.is_empty() {
                    self.leave(sent.packet.class);
                }
                self.line.push_back((sent.packet.class, sent.departure));
            }
            Event::Kept { class, .. } => self.wait(*class),
            Event::Rate { time, .. } | Event::Reloaded { time, .. } => self.advance(*time),
            Event::Delivered(_)
            | Event::Lost(_)
            | Event::Idle { .. }
            | Event::Introduced { .. }
            | Event::Resumed { .. }
            | Event::Queued { .. }
            | Event::Nonconforming { .. } => {}
        }
    }

    /// Counts up to this time.
    fn advance(&mut self, to: Nanos) {
        while self.now < to {
            let (sent, end) = match self.line.front() {
                None => (None, to),
                Some((class, end)) => (Some(*class), to.min(*end)),
            };
            self.count(sent, end.saturating_sub(self.now));
            self.now = self.now.max(end);
            if self.line.pop_front_if(|(_, sent)| *sent <= end).is_some()
                && let Some((next, _)) = self.line.front()
            {
                self.leave(*next);
            }
        }
    }

    /// All packets that wait have waited for this time, in which a class was sent, or none.
    fn count(&mut self, sent: Option<ClassId>, time: Nanos) {
        let classes = self.waiting.len();
        let place = sent.map_or(classes, ClassId::index).min(classes);
        let rows = self.times.chunks_exact_mut(classes + 1);
        for (row, waiting) in rows.zip(&self.waiting) {
            row[place] = row[place].saturating_add(waiting.saturating_mul(time.0));
        }
    }

    fn wait(&mut self, class: ClassId) {
        if let Some(waiting) = self.waiting.get_mut(class.index()) {
            *waiting += 1;
        }
    }

    fn leave(&mut self, class: ClassId) {
        if let Some(waiting) = self.waiting.get_mut(class.index()) {
            *waiting = waiting.saturating_sub(1);
        }
    }

    /// What was counted of a class, if this counts at all.
    pub(super) fn status(&self, plan: &Plan, class: ClassId) -> Option<WaitStatus> {
        let mut rows = self.times.chunks_exact(self.waiting.len() + 1);
        let (idle, sent) = rows.nth(class.index())?.split_last()?;
        let sent = plan.classes.iter().zip(sent).filter(|(_, time)| **time > 0);
        let sent_ns: BTreeMap<_, _> =
            sent.map(|(class, time)| (class.name.clone(), *time)).collect();
        Some(WaitStatus { sent_ns, idle_ns: *idle })
    }
}

#[cfg(test)]
mod tests {
    use laxity::packet::Packet;
    use laxity_forward::DroppedPacket;
    use laxity_plan::matching::Headers;
    use proptest::prelude::*;

    use super::*;
    use crate::bridge::samples;

    fn packet(class: u32, arrival: u64) -> Packet {
        Packet { class: ClassId(class), arrival: Nanos(arrival), ..Packet::default() }
    }

    fn arrived(class: u32, time: u64) -> Event {
        samples::arrived(packet(class, time), Headers::default())
    }

    fn sent(class: u32, arrival: u64, [start, departure]: [u64; 2]) -> Event {
        Event::Sent(samples::sent(packet(class, arrival), Nanos(start), Nanos(departure)))
    }

    /// Time 0: a packet of class 1 is sent until 10. Time 4: one of class 0 comes, and at 6 two of
    /// class 1. The link wakes at 13 and sends the one of class 0 until 23, and one of class 1
    /// behind it until 33. The other one is dropped at 30.
    #[test]
    fn packets_wait_for_what_is_sent_meanwhile() {
        let mut waits = Waits::new(2, Nanos::ZERO);
        let events = [arrived(1, 0), sent(1, 0, [0, 10]), arrived(0, 4), arrived(1, 6)];
        events.iter().for_each(|event| waits.add(event));
        [arrived(1, 6), sent(0, 4, [13, 23]), sent(1, 6, [13, 33])]
            .iter()
            .for_each(|event| waits.add(event));
        let (number, time) = (0, Nanos(30));
        let reason = laxity::scheduler::DropReason::QueueFull;
        waits.add(&Event::Dropped(DroppedPacket { number, packet: packet(1, 6), time, reason }));
        waits.advance(Nanos(100));
        let class_0 = [0, 6, 3];
        let class_1 = [2 * 10, 2 * 4 + 7, 2 * 3];
        assert_eq!(waits.times, [class_0, class_1].concat());
    }

    #[test]
    fn where_there_are_too_many_classes_nothing_is_counted() {
        let mut waits = Waits::new(MOST_CLASSES + 1, Nanos::ZERO);
        [arrived(0, 0), arrived(0, 1_000)].iter().for_each(|event| waits.add(event));
        assert!(waits.times.is_empty() && waits.line.is_empty());
    }

    #[test]
    fn after_events_were_lost_it_counts_what_is_queued() {
        let mut waits = Waits::new(1, Nanos::ZERO);
        waits.add(&arrived(0, 0));
        waits.begin(Nanos(2_000), [2]);
        waits.add(&arrived(0, 3_000));
        assert_eq!(waits.times, [0, 2_000]);
    }

    proptest! {
        /// First come, first served, on a link that may be late: each packet waited from its
        /// arrival until its first bit left, for what was sent then.
        #[test]
        fn the_sums_are_those_over_packets(
            drawn in prop::collection::vec((0u32..3, 0u64..50, 1u64..40, 0u64..30), 1..60),
        ) {
            let mut waits = Waits::new(3, Nanos::ZERO);
            let (mut time, mut free_at) = (0, 0);
            let mut events = Vec::new();
            let mut on_line: Vec<[u64; 3]> = Vec::new();
            let mut expected = [[0u64; 4]; 3];
            for (class, gap, length, lateness) in drawn {
                time += gap;
                let chosen = time.max(free_at.max(1) - 1) + lateness;
                let start = chosen.max(free_at);
                events.push((time, 0, arrived(class, time)));
                events.push((chosen, 1, sent(class, time, [chosen, start + length])));
                let row = &mut expected[class as usize];
                let mut busy = 0;
                for &[other, begin, end] in &on_line {
                    let both = end.min(start).saturating_sub(begin.max(time));
                    row[other as usize] += both;
                    busy += both;
                }
                row[3] += start - time - busy;
                on_line.push([class.into(), start, start + length]);
                free_at = start + length;
            }
            events.sort_by_key(|(time, order, _)| (*time, *order));
            events.iter().for_each(|(_, _, event)| waits.add(event));
            waits.advance(Nanos(free_at));
            prop_assert_eq!(waits.times, expected.concat());
        }
    }
}
