//! Why a packet waits in a hierarchy of schedulers.

use super::{Hierarchy, Place};
use crate::explain::{Explain, Rule};
use crate::packet::Packet;
use crate::sched::wf2q::Served;
use crate::scheduler::Dispatch;
use crate::units::Nanos;

impl Hierarchy {
    /// The place of a packet's class, its leaf's rules, and the packet as its leaf knows it.
    fn below(&self, packet: &Packet) -> Option<(Place, Option<&dyn Explain>, Packet)> {
        let place = self.places.get(packet.class.index()).copied().flatten()?;
        let leaf = self.leaves[place.leaf.index()].as_ref()?;
        Some((place, leaf.scheduler.explain(), Packet { class: place.class, ..*packet }))
    }
}

impl Explain for Hierarchy {
    /// The number of its leaf, and its queue there.
    fn queue(&self, packet: &Packet) -> u64 {
        let Some((place, explain, inner)) = self.below(packet) else { return 0 };
        let within = explain.map_or(inner.class.0.into(), |explain| explain.queue(&inner));
        u64::from(place.leaf.0) << 40 | within
    }

    fn precedence(&self, now: Nanos, sent: &Dispatch, waiting: &Packet) -> Rule {
        let both = (self.below(&sent.packet), self.below(waiting));
        let (Some((ahead, _, packet)), Some((behind, explain, waiting))) = both else {
            return Rule::Scheduler;
        };
        if ahead.leaf == behind.leaf {
            let sent = Dispatch { packet, ..*sent };
            return explain
                .map_or(Rule::Scheduler, |explain| explain.precedence(now, &sent, &waiting));
        }
        match (&self.leaves[ahead.leaf.index()], &self.leaves[behind.leaf.index()]) {
            (Some(served), Some(waits)) if waits.offers => {
                let unused = served.longest.saturating_sub(packet.length);
                let served = Served { leaf: ahead.leaf, offers: served.offers, unused };
                self.servers.precedence(served, behind.leaf)
            }
            // Its own scheduler holds it back.
            _ => explain.map_or(Rule::Scheduler, |explain| explain.hold(now, &waiting)),
        }
    }

    fn hold(&self, now: Nanos, waiting: &Packet) -> Rule {
        let explain = self.below(waiting).and_then(|(_, explain, inner)| Some((explain?, inner)));
        explain.map_or(Rule::Scheduler, |(explain, inner)| explain.hold(now, &inner))
    }
}
