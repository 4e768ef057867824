//! Packets that come to an output at one instant, where its queues cannot hold all of them.

use std::sync::Arc;

use laxity::packet::Packet;
use laxity::scheduler::{Backlog, Scheduler};
use laxity::units::Nanos;

use crate::source::random::mix;

/// Packets of one instant that are not let in yet. Their order, and whether the link takes a packet
/// before or after them, is unknown to a simulation. If all find room it does not matter; if not,
/// the order is drawn, or the same flows would always lose.
pub(crate) struct Ties {
    /// Packets of this instant, in the order of their events.
    together: Vec<Packet>,
    /// Packets drawn to come after the link has taken a packet.
    behind: Vec<Packet>,
    /// The draw depends on the seed and the time only.
    seed: u64,
    /// By class, whether all of its packets stay in their order, not only those of each flow.
    in_order: Arc<[bool]>,
    /// Packets that found a queue full that others reached, or in which the link made room, at the
    /// same instant.
    pub count: u64,
}

/// A place where packets wait if there is room.
pub(crate) trait Room {
    /// Whether a packet finds room behind `ahead` more.
    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool;
    /// Whether nothing waits.
    fn is_empty(&self) -> bool;
}

impl Room for dyn Scheduler + Send {
    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        Scheduler::has_room(self, packet, ahead)
    }

    fn is_empty(&self) -> bool {
        self.backlog().packets == 0
    }
}

impl Ties {
    /// No packets. Classes marked in `in_order` keep the order of their packets, not only of each
    /// flow.
    pub(crate) fn new(seed: u64, in_order: Arc<[bool]>) -> Self {
        Ties { together: Vec::new(), behind: Vec::new(), seed, in_order, count: 0 }
    }

    /// Adds a packet of this instant.
    pub(crate) fn join(&mut self, packet: Packet) {
        self.together.push(packet);
    }

    /// Whether packets of this instant wait to be let in.
    pub(crate) fn any_together(&self) -> bool {
        !self.together.is_empty()
    }

    /// Whether packets wait for the link to take one.
    pub(crate) fn any_behind(&self) -> bool {
        !self.behind.is_empty()
    }

    /// Lets in the packets that come before the link takes one, if it is `free` and has one to
    /// take; keeps the others. `enter` lets a packet in or drops it.
    pub(crate) fn enter<R: Room + ?Sized>(
        &mut self,
        now: Nanos,
        free: bool,
        room: &mut R,
        mut enter: impl FnMut(&mut R, Packet),
    ) {
        let mut all = Backlog::default();
        self.together.iter().for_each(|packet| all.add(packet.length));
        let has_room = |packet: &Packet| {
            let mut others = all;
            others.remove(packet.length);
            room.has_room(packet, others)
        };
        if self.together.iter().all(has_room) {
            return self.together.drain(..).for_each(|packet| enter(room, packet));
        }
        let salt = mix(self.seed ^ now.0);
        let taken = mix(!salt);
        let in_order = self.in_order.clone();
        let turn = |packet: &Packet| turn(salt, packet, &in_order);
        // Those of one flow stay in their order.
        self.together.sort_by_cached_key(turn);
        let takes = free && (self.together.len() > 1 || !room.is_empty());
        let turns = [self.together.first(), self.together.last()];
        let [first, last] = turns.map(|packet| packet.map(turn));
        let mut waits = None;
        for packet in self.together.drain(..) {
            let is_full = !room.has_room(&packet, Backlog::default());
            self.count += u64::from(is_full && (takes || first != last));
            let turn = turn(&packet);
            if is_full && takes && turn > taken || waits == Some(turn) {
                waits = Some(turn);
                self.behind.push(packet);
            } else {
                enter(room, packet);
            }
        }
    }

    /// Lets in the packets that came after the link took one.
    pub(crate) fn enter_behind<R: ?Sized>(
        &mut self,
        room: &mut R,
        mut enter: impl FnMut(&mut R, Packet),
    ) {
        self.behind.drain(..).for_each(|packet| enter(room, packet));
    }
}

/// The rank of a packet in the draw: one for each flow, or for each class that stays in order.
fn turn(salt: u64, packet: &Packet, in_order: &[bool]) -> u64 {
    let is_one = in_order.get(packet.class.index()).copied().unwrap_or(false);
    let flow = if is_one { 0 } else { packet.flow.0 };
    mix(salt ^ mix(u64::from(packet.class.0) << 32 | u64::from(flow)))
}
