//! Packets that come to an output at one instant, where its queues do not hold all of them.

use std::sync::Arc;

use laxity::packet::Packet;
use laxity::scheduler::{Backlog, Scheduler};
use laxity::units::Nanos;

use crate::source::random::mix;

/// What of packets that come at one instant, and of the link that takes one at that instant, is
/// first, is nothing that a simulation knows. Where there is room for all it does not matter; where
/// there is not, it is drawn, or the same flows would lose again and again.
pub(crate) struct Ties {
    /// What came at this instant, in this order.
    together: Vec<Packet>,
    /// What came, as it was drawn, after the link had taken a packet, and waits for that.
    behind: Vec<Packet>,
    /// What is drawn depends on this and the instant alone.
    seed: u64,
    /// By class, whether all of its packets stay in their order, not only those of each flow.
    in_order: Arc<[bool]>,
    /// Packets that found a queue full which others reached, or the link made room in, at the same
    /// instant.
    pub count: u64,
}

/// Where packets wait, if there is room for them.
pub(crate) trait Room {
    /// Whether a packet finds room behind so much more than is there.
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
    /// Draws from a seed; some classes stay in their order.
    pub(crate) fn new(seed: u64, in_order: Arc<[bool]>) -> Self {
        Ties { together: Vec::new(), behind: Vec::new(), seed, in_order, count: 0 }
    }

    /// A packet comes at an instant at which more may happen.
    pub(crate) fn join(&mut self, packet: Packet) {
        self.together.push(packet);
    }

    /// Whether anything came at this instant that is not yet let in.
    pub(crate) fn any_together(&self) -> bool {
        !self.together.is_empty()
    }

    /// Whether anything waits for the link to take a packet.
    pub(crate) fn any_behind(&self) -> bool {
        !self.behind.is_empty()
    }

    /// What came at this instant gets in, or not, before the link takes a packet if it is `free` to
    /// and has one. What came behind that is held back. `enter` is how a packet gets in, or not.
    pub(crate) fn admit<R: Room + ?Sized>(
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

    /// The link has taken a packet, if it could, and what came behind that gets in, or not.
    pub(crate) fn admit_behind<R: ?Sized>(
        &mut self,
        room: &mut R,
        mut enter: impl FnMut(&mut R, Packet),
    ) {
        self.behind.drain(..).for_each(|packet| enter(room, packet));
    }
}

/// When it is the turn of a packet's flow, or of its class if that stays in order.
fn turn(salt: u64, packet: &Packet, in_order: &[bool]) -> u64 {
    let is_one = in_order.get(packet.class.index()).copied().unwrap_or(false);
    let flow = if is_one { 0 } else { packet.flow.0 };
    mix(salt ^ mix(u64::from(packet.class.0) << 32 | u64::from(flow)))
}
