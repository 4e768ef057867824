//! A scheduler that follows one plan after another.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use laxity::handover::{HandedPacket, hand_over};
use laxity::link::Link;
use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{Backlog, Dispatch, DropReason, DropSink, Scheduler};
use laxity::units::Nanos;

/// Another plan from some time on.
pub struct Change {
    /// From when on it is followed.
    pub at: Nanos,
    /// Its scheduler, empty.
    pub scheduler: Box<dyn Scheduler + Send>,
    /// Classes as packets have them, and as this scheduler knows them.
    pub classes: HashMap<ClassId, ClassId>,
    /// The class inside of packets that are queued when it is followed and whose own is gone.
    pub rest: Option<ClassId>,
}

/// A scheduler that follows one plan after another while packets are queued.
///
/// It hands over as a live link does that reads its plan again: the next scheduler [takes
/// over](Scheduler::take_over) what is queued, in the order of its arrival, and what is remembered
/// of queues. A packet that is under way then goes first and is sent at once: its class has had the
/// link for it, and others wait for it once and not twice. A packet
/// that arrives in a class that the plan of its time does not have is dropped.
pub struct Successive<C: Iterator<Item = Change>> {
    current: Change,
    next: Option<Change>,
    changes: C,
    /// What is queued, by the order of arrival.
    held: BTreeMap<u64, Packet>,
    arrived: u64,
    /// The link that sends, which knows until when.
    link: Link,
    /// The packet that was sent last.
    sent: Option<Packet>,
}

/// The handle of a packet under way as a scheduler has it.
const UNDER_WAY: u64 = u64::MAX;

impl<C: Iterator<Item = Change>> Successive<C> {
    /// Follows these plans before a link like this one, in the order of their times; the first
    /// from the begin on. `None` if there are none.
    pub fn new(mut changes: C, link: Link) -> Option<Self> {
        let (current, next) = (changes.next()?, changes.next());
        Some(Successive {
            current,
            next,
            changes,
            held: BTreeMap::new(),
            arrived: 0,
            link,
            sent: None,
        })
    }

    /// Follows all plans whose time has come.
    fn follow(&mut self, now: Nanos, drops: &mut dyn DropSink) {
        while let Some(next) = self.next.take_if(|next| next.at <= now) {
            self.next = self.changes.next();
            let before = std::mem::replace(&mut self.current, next);
            self.hand_over(now, &before, drops);
        }
    }

    fn hand_over(&mut self, now: Nanos, before: &Change, drops: &mut dyn DropSink) {
        let Successive { current, held, .. } = self;
        if let Some(packet) = self.sent.filter(|_| self.link.free_at() > now)
            && let Some(class) = current.classes.get(&packet.class).copied().or(current.rest)
        {
            let packet = Packet { class, handle: UNDER_WAY, ..packet };
            let drops = &mut Held { held, classes: &current.classes, drops };
            current.scheduler.take_over(now, packet, drops);
            current.scheduler.dequeue(now, drops);
        }
        let mut kept = Vec::new();
        let mut gone = Vec::new();
        for (handle, packet) in &*held {
            let [old, new] = [before, &*current].map(|plan| plan.classes.get(&packet.class));
            match new.copied().or(current.rest) {
                Some(class) => kept.push(HandedPacket {
                    packet: Packet { class, handle: *handle, ..*packet },
                    remembered: new.and(old).copied(),
                }),
                None => gone.push(*handle),
            }
        }
        for packet in gone.iter().filter_map(|handle| held.remove(handle)) {
            drops.dropped(packet, DropReason::NoClass);
        }
        let drops = &mut Held { held, classes: &current.classes, drops };
        hand_over(now, &*before.scheduler, &mut *current.scheduler, &kept, drops);
    }
}

impl<C: Iterator<Item = Change>> Scheduler for Successive<C> {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.follow(now, drops);
        let Some(&class) = self.current.classes.get(&packet.class) else {
            return drops.dropped(packet, DropReason::NoClass);
        };
        let handle = self.arrived;
        self.arrived += 1;
        self.held.insert(handle, packet);
        let Successive { current: Change { scheduler, classes, .. }, held, .. } = self;
        let packet = Packet { class, handle, ..packet };
        scheduler.enqueue(now, packet, &mut Held { held, classes, drops });
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        self.follow(now, drops);
        let Successive { current: Change { scheduler, classes, .. }, held, .. } = self;
        let mut drops = Held { held, classes, drops };
        let mut dispatch = scheduler.dequeue(now, &mut drops)?;
        if dispatch.packet.handle == UNDER_WAY {
            // It was held back when it was handed over.
            dispatch = scheduler.dequeue(now, &mut drops)?;
        }
        let packet = outside(held, dispatch.packet);
        self.link.transmit(now, packet.length);
        self.sent = Some(packet);
        Some(Dispatch { packet, ..dispatch })
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        let ready = self.current.scheduler.next_ready(now)?;
        // The next plan may have something to send before.
        let next = self.next.as_ref().map_or(Nanos::MAX, |next| next.at);
        Some(ready.min(next.max(now)))
    }

    fn backlog(&self) -> Backlog {
        self.current.scheduler.backlog()
    }

    fn footprint(&self) -> usize {
        self.current.scheduler.footprint() + self.held.len() * size_of::<(u64, Packet)>()
    }
}

/// A packet that leaves, as it came but for its marks.
fn outside(held: &mut BTreeMap<u64, Packet>, packet: Packet) -> Packet {
    match held.remove(&packet.handle) {
        Some(came) => Packet { class: came.class, handle: came.handle, ..packet },
        None => packet,
    }
}

/// Where a scheduler's drops go, as packets that are held.
struct Held<'a> {
    held: &'a mut BTreeMap<u64, Packet>,
    classes: &'a HashMap<ClassId, ClassId>,
    drops: &'a mut dyn DropSink,
}

impl DropSink for Held<'_> {
    fn dropped(&mut self, packet: Packet, reason: DropReason) {
        let packet = outside(self.held, packet);
        self.drops.dropped(packet, reason);
    }

    fn marked(&mut self, class: ClassId, arrival: Nanos) {
        let outside = self.classes.iter().find(|(_, inside)| **inside == class);
        self.drops.marked(outside.map_or(class, |(outside, _)| *outside), arrival);
    }
}
