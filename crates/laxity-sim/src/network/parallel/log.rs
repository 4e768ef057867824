//! Observers of the parts of a network.

use std::mem::swap;
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

use laxity::packet::Packet;
use laxity::units::Nanos;

use super::board::lock;
use crate::network::ids::SlotId;
use crate::record::{Observer, Record};

/// The observer of a part of a network.
pub(crate) trait PartObserver: Observer + Default + Send {
    /// Assigns all that was observed since the last call to an event.
    fn close(&mut self, now: Nanos, slot: SlotId);

    /// Swaps its log for the one that was posted before.
    fn post(&mut self, posted: &Mutex<Log>);
}

/// An observer that does not listen. It differs from `()` so that code of one thread has no other
/// callers and is inlined.
#[derive(Default)]
pub(super) struct SilentObserver;

impl Observer for SilentObserver {
    fn record(&mut self, _: &Record) {}

    fn listens(&self) -> bool {
        false
    }
}

impl PartObserver for SilentObserver {
    fn close(&mut self, _: Nanos, _: SlotId) {}

    fn post(&mut self, _: &Mutex<Log>) {}
}

/// What was observed in a part of a network, event by event.
#[derive(Default)]
pub(crate) struct Log {
    entries: Vec<Entry>,
    /// The time and the slot of each event with entries, and the end of these.
    events: Vec<(Nanos, SlotId, usize)>,
}

enum Entry {
    Record(Record),
    Delivered(Packet, u64, Nanos),
}

impl Observer for Log {
    fn record(&mut self, record: &Record) {
        self.entries.push(Entry::Record(*record));
    }

    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        self.entries.push(Entry::Delivered(*packet, bytes, now));
    }
}

impl PartObserver for Log {
    fn close(&mut self, now: Nanos, slot: SlotId) {
        if self.entries.len() > self.events.last().map_or(0, |&(.., end)| end) {
            self.events.push((now, slot, self.entries.len()));
        }
    }

    fn post(&mut self, posted: &Mutex<Log>) {
        swap(self, &mut lock(posted));
    }
}

impl Log {
    fn clear(&mut self) {
        self.entries.clear();
        self.events.clear();
    }
}

/// Passes the events of all parts on to an observer, in the order in which one thread has them:
/// always the first of the next events of the parts.
pub(super) fn tell(logs: &mut [impl DerefMut<Target = Log>], observer: &mut dyn Observer) {
    // The next event of each part, and the beginning of its entries.
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
        for told in &logs[part].entries[from..end] {
            match told {
                Entry::Record(record) => observer.record(record),
                Entry::Delivered(packet, bytes, now) => observer.delivered(packet, *bytes, *now),
            }
        }
        next[part] = (event + 1, end);
    }
    logs.iter_mut().for_each(|log| log.clear());
}
