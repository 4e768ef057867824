//! Controlled delay (Nichols, Jacobson, McGregor, Iyengar 2018, RFC 8289).

use crate::error::{SetupError, check};
use crate::packet::{Ecn, Packet};
use crate::units::{Bytes, Nanos};

use super::Limit;

/// How CoDel is set: when packets have waited for longer than `target` over a whole `interval`, one
/// is dropped as it leaves, and the next after `interval / sqrt(n)`, where n counts the drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDel {
    /// TARGET: the waiting time that is tolerated. 5 ms is recommended.
    pub target: Nanos,
    /// INTERVAL, more than zero: the worst round-trip time of the traffic. 100 ms is recommended.
    pub interval: Nanos,
    /// Limit of the queue.
    pub limit: Limit,
    /// Packets that are capable of ECN are marked instead of dropped.
    pub ecn: bool,
    /// MAXPACKET: a queue of no more than that is none.
    pub max_packet: Bytes,
}

impl CoDel {
    /// The target that RFC 8289, section 4.2 recommends.
    pub const TARGET: Nanos = Nanos(5_000_000);
    /// The interval that RFC 8289, section 4.3 recommends.
    pub const INTERVAL: Nanos = Nanos(100_000_000);

    /// # Errors
    /// If the interval is zero.
    pub(crate) fn check(&self) -> Result<(), SetupError> {
        check("CoDel's interval in ns", self.interval.0, 1..=u64::MAX)
    }

    /// Marks a packet, or says that it is to be dropped.
    fn signal(&self, packet: &mut Packet) -> Fate {
        let is_new = packet.ecn != Ecn::Experienced;
        match self.ecn && packet.mark() {
            true if is_new => Fate::Marked,
            true => Fate::Sent,
            false => Fate::Dropped,
        }
    }
}

/// The state of CoDel on a queue: the pseudocode of section 5, called once per packet, as the next
/// packet may be of another queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Controller {
    /// When packets will have waited for too long for an interval; 0 while they do not, as in the
    /// pseudocode.
    first_above: Nanos,
    dropping: bool,
    /// The packet before was dropped, so that `next_drop` moves on if this one waited too long.
    moves_on: bool,
    next_drop: Nanos,
    /// Drops since the dropping state was entered.
    count: u32,
    last_count: u32,
}

/// What CoDel remembers of a queue: whether packets wait for too long, and how often it drops.
#[derive(Clone, Copy, Debug)]
pub struct QueueMemory(pub(crate) Controller);

/// The fate of a packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Sent,
    /// It is sent, and has come to be marked.
    Marked,
    Dropped,
}

impl Controller {
    /// A packet leaves a queue; `left` bytes stay in it.
    pub(crate) fn leave(
        &mut self,
        codel: &CoDel,
        now: Nanos,
        packet: &mut Packet,
        left: u64,
    ) -> Fate {
        let too_long = self.too_long(codel, now, packet, left);
        let moves_on = core::mem::replace(&mut self.moves_on, false);
        if !too_long {
            self.dropping = false;
            return Fate::Sent;
        }
        if !self.dropping {
            self.enter(codel, now);
            return codel.signal(packet);
        }
        if moves_on {
            self.next_drop = self.after(codel, self.next_drop);
        }
        if now < self.next_drop {
            return Fate::Sent;
        }
        self.count = self.count.saturating_add(1);
        let fate = codel.signal(packet);
        match fate {
            Fate::Sent | Fate::Marked => self.next_drop = self.after(codel, self.next_drop),
            Fate::Dropped => self.moves_on = true,
        }
        fate
    }

    /// The link is ready and the queue has nothing, for its last packet was not sent.
    pub(crate) fn run_empty(&mut self) {
        (self.first_above, self.dropping, self.moves_on) = (Nanos::ZERO, false, false);
    }

    /// Whether nothing that happened in its queue counts any more once that has run empty.
    pub(crate) fn is_past(&self, codel: &CoDel, now: Nanos) -> bool {
        self.count.saturating_sub(self.last_count) <= 1 || !self.is_recent(codel, now)
    }

    /// Whether packets have waited for too long throughout an interval.
    fn too_long(&mut self, codel: &CoDel, now: Nanos, packet: &Packet, left: u64) -> bool {
        let waited = now.saturating_sub(packet.arrival);
        if waited < codel.target || left <= codel.max_packet.0 {
            self.first_above = Nanos::ZERO;
            return false;
        }
        if self.first_above == Nanos::ZERO {
            self.first_above = now.saturating_add(codel.interval);
        }
        now >= self.first_above
    }

    /// The dropping state begins, at the rate that controlled the queue before if that was not long
    /// ago.
    fn enter(&mut self, codel: &CoDel, now: Nanos) {
        self.dropping = true;
        let more = self.count.saturating_sub(self.last_count);
        self.count = if more > 1 && self.is_recent(codel, now) { more } else { 1 };
        self.last_count = self.count;
        self.next_drop = self.after(codel, now);
    }

    /// Whether the dropping state was left not long ago.
    fn is_recent(&self, codel: &CoDel, now: Nanos) -> bool {
        let long = Nanos(codel.interval.0.saturating_mul(16));
        now.saturating_sub(self.next_drop) < long
    }

    /// The control law: `interval / sqrt(count)` later, rounded down.
    fn after(&self, codel: &CoDel, time: Nanos) -> Nanos {
        let root = (u64::from(self.count) << 32).isqrt();
        let step = (u128::from(codel.interval.0) << 16) / u128::from(root);
        time.saturating_add(Nanos(step as u64))
    }
}
