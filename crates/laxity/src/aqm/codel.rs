//! Controlled delay (Nichols, Jacobson, McGregor, Iyengar 2018, RFC 8289).

use crate::packet::{Ecn, Packet};
use crate::scheduler::Backlog;
use crate::units::{Bytes, Nanos};

use super::Limit;

/// How CoDel is set: when packets have waited for longer than `target` over a whole `interval`, one
/// is dropped as it leaves, and the next after `interval / sqrt(n)`, where n counts the drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDel {
    /// TARGET: the waiting time that is tolerated. 5 ms is recommended.
    pub target: Nanos,
    /// INTERVAL, more than zero: the worst round-trip time of what is sent. 100 ms is recommended.
    pub interval: Nanos,
    /// What the queue never exceeds.
    pub limit: Limit,
    /// Packets that are capable of ECN are marked instead of dropped.
    pub ecn: bool,
    /// MAXPACKET: a queue of no more than that is none.
    pub max_packet: Bytes,
}

/// CoDel at work: the pseudocode of section 5, told of one packet at a time, for what comes next
/// may be a packet of another queue.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    codel: CoDel,
    /// When packets will have waited for too long for an interval; `None` while they do not.
    first_above: Option<Nanos>,
    dropping: bool,
    /// The packet before was dropped, so that `next_drop` moves on if this one waited too long.
    moves_on: bool,
    next_drop: Nanos,
    /// Drops since the dropping state was entered.
    count: u32,
    last_count: u32,
}

/// What becomes of a packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Sent,
    Dropped,
}

impl Controller {
    pub fn new(codel: CoDel) -> Self {
        assert!(codel.interval > Nanos::ZERO, "an interval of no time");
        Controller {
            codel,
            first_above: None,
            dropping: false,
            moves_on: false,
            next_drop: Nanos::ZERO,
            count: 0,
            last_count: 0,
        }
    }

    pub fn limit(&self) -> Limit {
        self.codel.limit
    }

    /// A packet leaves a queue of which so much stays.
    pub fn leave(&mut self, now: Nanos, packet: &mut Packet, left: Backlog) -> Fate {
        let too_long = self.too_long(now, packet, left);
        let moves_on = core::mem::replace(&mut self.moves_on, false);
        if !too_long {
            self.dropping = false;
            return Fate::Sent;
        }
        if !self.dropping {
            self.enter(now);
            return self.signal(packet);
        }
        if moves_on {
            self.next_drop = self.after(self.next_drop);
        }
        if now < self.next_drop {
            return Fate::Sent;
        }
        self.count = self.count.saturating_add(1);
        let fate = self.signal(packet);
        match fate {
            Fate::Sent => self.next_drop = self.after(self.next_drop),
            Fate::Dropped => self.moves_on = true,
        }
        fate
    }

    /// Whether packets have waited for too long throughout an interval.
    fn too_long(&mut self, now: Nanos, packet: &Packet, left: Backlog) -> bool {
        let waited = now.saturating_sub(packet.arrival);
        if waited < self.codel.target || left.bytes <= self.codel.max_packet.0 {
            self.first_above = None;
            return false;
        }
        let first = self.first_above.get_or_insert(now.saturating_add(self.codel.interval));
        now >= *first
    }

    /// The dropping state begins, at the rate that controlled the queue before if that was not long
    /// ago.
    fn enter(&mut self, now: Nanos) {
        self.dropping = true;
        let more = self.count.saturating_sub(self.last_count);
        let long = Nanos(self.codel.interval.0.saturating_mul(16));
        let is_recent = now.saturating_sub(self.next_drop) < long;
        self.count = if more > 1 && is_recent { more } else { 1 };
        self.last_count = self.count;
        self.next_drop = self.after(now);
    }

    /// The control law: `interval / sqrt(count)` later, rounded down.
    fn after(&self, time: Nanos) -> Nanos {
        let root = (u64::from(self.count) << 32).isqrt();
        let step = (u128::from(self.codel.interval.0) << 16) / u128::from(root);
        time.saturating_add(Nanos(step as u64))
    }

    fn signal(&self, packet: &mut Packet) -> Fate {
        if self.codel.ecn && packet.ecn != Ecn::NotCapable {
            packet.ecn = Ecn::Experienced;
            return Fate::Sent;
        }
        Fate::Dropped
    }
}
