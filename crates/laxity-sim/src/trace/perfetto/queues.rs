//! Counters of what is queued.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use laxity::scheduler::Backlog;
use laxity::units::Nanos;

use super::message::Unit;
use super::writer::{TextId, TraceWriter, TrackId};

/// The queues of all outputs. Each has two counters, its packets and its bytes, whose values are
/// those at the end of an instant: a packet that is sent when it comes changes nothing.
#[derive(Default)]
pub(super) struct Queues {
    queues: HashMap<QueueKey, Queue>,
    /// Those that changed at `present`, in the order of their first change.
    changed: Vec<QueueKey>,
    /// Packets that are sent later: when, from where, and their lengths.
    leaving: BinaryHeap<Reverse<(Nanos, QueueKey, u32)>>,
    present: Nanos,
}

/// What waits of a class at an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct QueueKey {
    /// The tracks of the output.
    pub group: TrackId,
    /// The name of the class, which lasts over plans.
    pub class: TextId,
}

#[derive(Default)]
struct Queue {
    backlog: Backlog,
    /// What the counters show.
    shown: Backlog,
    is_changed: bool,
    counters: Option<[TrackId; 2]>,
}

impl Queues {
    /// The least rank of a counter among the tracks of its output.
    const RANK: u32 = 16;

    /// The present time.
    pub(super) fn present(&self) -> Nanos {
        self.present
    }

    /// Writes what the queues have before `now`, which is the present from then on.
    pub(super) fn advance(&mut self, now: Nanos, writer: &mut TraceWriter<'_>) {
        if now <= self.present {
            return;
        }
        while let Some(&Reverse((start, key, length))) = self.leaving.peek()
            && start < now
        {
            self.leaving.pop();
            if start > self.present {
                self.write(writer);
                self.present = start;
            }
            self.change(key, |backlog| backlog.remove(length));
        }
        self.write(writer);
        self.present = now;
    }

    /// A packet joins a queue.
    pub(super) fn join(&mut self, key: QueueKey, length: u32) {
        self.change(key, |backlog| backlog.add(length));
    }

    /// A packet leaves a queue, now or later.
    pub(super) fn leave(&mut self, key: QueueKey, length: u32, time: Nanos) {
        if time > self.present {
            self.leaving.push(Reverse((time, key, length)));
        } else {
            self.change(key, |backlog| backlog.remove(length));
        }
    }

    /// Takes all packets out, to be counted again.
    pub(super) fn clear(&mut self) {
        let mut keys: Vec<_> = self.queues.keys().copied().collect();
        keys.sort_unstable();
        for key in keys {
            self.change(key, |backlog| *backlog = Backlog::default());
        }
    }

    fn change(&mut self, key: QueueKey, change: impl FnOnce(&mut Backlog)) {
        let queue = self.queues.entry(key).or_default();
        change(&mut queue.backlog);
        if !queue.is_changed {
            queue.is_changed = true;
            self.changed.push(key);
        }
    }

    /// Writes the counters that changed at the present time.
    fn write(&mut self, writer: &mut TraceWriter<'_>) {
        for key in self.changed.drain(..) {
            let Some(queue) = self.queues.get_mut(&key) else { continue };
            queue.is_changed = false;
            if queue.backlog == queue.shown {
                continue;
            }
            queue.shown = queue.backlog;
            let [packets, bytes] = *queue.counters.get_or_insert_with(|| counters(key, writer));
            writer.count(packets, self.present, queue.backlog.packets as u64);
            writer.count(bytes, self.present, queue.backlog.bytes);
        }
    }
}

/// Begins the counters of a queue.
fn counters(key: QueueKey, writer: &mut TraceWriter<'_>) -> [TrackId; 2] {
    let QueueKey { group, class } = key;
    let name = writer.content(class).to_owned();
    let rank = Queues::RANK + 2 * class.0;
    [
        writer.counter(group, rank, format!("{name}: queued packets"), Unit::Count),
        writer.counter(group, rank + 1, format!("{name}: queued bytes"), Unit::Bytes),
    ]
}
