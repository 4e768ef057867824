//! What an observer is to hear of the parts of a network.

use std::ops::{Deref, DerefMut};

use laxity::packet::Packet;
use laxity::units::Nanos;

use crate::record::{Observer, Record};

/// What happened in a part of a network, event by event, if anybody listens.
pub(in crate::network) struct Log {
    is_told: bool,
    told: Vec<Told>,
    /// The time and the slot of each event that anything is told of, and how much is told before its end.
    events: Vec<(Nanos, usize, usize)>,
}

enum Told {
    Record(Record),
    Delivered(Packet, u64, Nanos),
}

impl Observer for Log {
    fn record(&mut self, record: &Record) {
        if self.is_told {
            self.told.push(Told::Record(*record));
        }
    }

    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        if self.is_told {
            self.told.push(Told::Delivered(*packet, bytes, now));
        }
    }

    fn listens(&self) -> bool {
        self.is_told
    }
}

impl Log {
    /// Before anything has happened.
    pub fn new(is_told: bool) -> Self {
        Log { is_told, told: Vec::new(), events: Vec::new() }
    }

    /// What was told since the last one belongs to this event.
    pub fn close(&mut self, now: Nanos, slot: usize) {
        if self.is_told && self.told.len() > self.events.last().map_or(0, |&(.., end)| end) {
            self.events.push((now, slot, self.told.len()));
        }
    }

    fn clear(&mut self) {
        self.told.clear();
        self.events.clear();
    }
}

/// Tells an observer what happened in all parts, in the order in which one thread would have done it: of the
/// parts' next events always the first.
pub(super) fn tell(logs: &mut [impl DerefMut<Target = Log>], observer: &mut impl Observer) {
    // The next event of each part, and how much was told before.
    let mut next = vec![(0, 0); logs.len()];
    let first = |logs: &[_], next: &[(usize, usize)]| {
        let event = |(part, log): (usize, &_)| {
            let log: &Log = Deref::deref(log);
            let &(now, slot, _) = log.events.get(next[part].0)?;
            Some((now, slot, part))
        };
        logs.iter().enumerate().filter_map(event).min()
    };
    while let Some((.., part)) = first(logs, &next) {
        let (event, from) = next[part];
        let end = logs[part].events[event].2;
        for told in &logs[part].told[from..end] {
            match told {
                Told::Record(record) => observer.record(record),
                Told::Delivered(packet, bytes, now) => observer.delivered(packet, *bytes, *now),
            }
        }
        next[part] = (event + 1, end);
    }
    logs.iter_mut().for_each(|log| log.clear());
}
