//! COBALT: CoDel and BLUE side by side (Høiland-Jørgensen, Täht, Morton 2018, *Piece of CAKE*,
//! section III.C; Nichols, Jacobson 2012; Feng, Shin, Kandlur, Saha 2002), as Linux 6.1 computes
//! it.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

use crate::packet::{Ecn, Packet};
use crate::units::Nanos;

use super::Fate;

/// How COBALT is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cobalt {
    /// The waiting time that is tolerated, and the least time between two steps of BLUE.
    pub target: Nanos,
    /// How long packets may wait for longer before one is dropped.
    pub interval: Nanos,
    /// What a packet of the largest size takes: up to four of them, a queue is none.
    pub packet_time: Nanos,
}

/// The state of COBALT on a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CobaltState {
    /// Drops and marks less what has been forgiven since: CoDel's frequency.
    count: u32,
    /// 1 / sqrt(count) in parts of 2^-32. Zero before the first drop, so that the first one comes
    /// with the second packet that has waited for too long.
    inverse_root: u32,
    /// When the next packet is dropped, or until when the queue is remembered.
    next_drop: Nanos,
    /// When BLUE took its last step; `None` if it never did.
    last_step: Option<Nanos>,
    /// BLUE's probability in parts of 2^-32.
    probability: u32,
    dropping: bool,
}

/// BLUE's step at an overflow, 1/256, and at an empty queue, 1/4096.
const UP: u32 = 1 << 24;
const DOWN: u32 = 1 << 20;

/// The inverse roots of small counts. Each is four steps of Newton's method from the one before;
/// those of 0 and 1 are as near to one as can be.
const ROOTS: [u32; 16] = {
    let mut roots = [u32::MAX; 16];
    let mut count = 1;
    while count < roots.len() {
        let mut root = roots[count - 1];
        let mut step = 0;
        while step < 4 {
            root = newton(count as u32, root);
            step += 1;
        }
        roots[count] = root;
        count += 1;
    }
    roots
};

/// One step of Newton's method towards 1 / sqrt(count).
const fn newton(count: u32, root: u32) -> u32 {
    let square = (root as u64 * root as u64) >> 32;
    let value = (3u64 << 32).wrapping_sub(count as u64 * square) >> 2;
    (value.wrapping_mul(root as u64) >> 31) as u32
}

impl CobaltState {
    /// Of a queue that never had a packet.
    pub(crate) const NEW: CobaltState = CobaltState {
        count: 0,
        inverse_root: 0,
        next_drop: Nanos::ZERO,
        last_step: None,
        probability: 0,
        dropping: false,
    };

    /// Whether nothing is left to be remembered of the queue.
    pub(crate) fn is_at_rest(&self, now: Nanos) -> bool {
        self.probability == 0 && self.count == 0 && now >= self.next_drop
    }

    /// A packet was dropped for want of room.
    pub(crate) fn overflow(&mut self, cobalt: &Cobalt, now: Nanos) {
        if self.may_step(cobalt, now) {
            self.probability = self.probability.saturating_add(UP);
            self.last_step = Some(now);
        }
        self.dropping = true;
        self.next_drop = now;
        self.count = self.count.max(1);
    }

    /// The queue was to send and has nothing.
    pub(crate) fn run_empty(&mut self, cobalt: &Cobalt, now: Nanos) {
        if self.probability > 0 && self.may_step(cobalt, now) {
            self.probability = self.probability.saturating_sub(DOWN);
            self.last_step = Some(now);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.next_drop {
            self.count_to(cobalt, self.count - 1);
        }
    }

    /// The fate of a packet that leaves the queue while `bulk` flows take turns. A packet that is
    /// capable of ECN is marked instead of dropped.
    pub(crate) fn leave(
        &mut self,
        cobalt: &Cobalt,
        now: Nanos,
        packet: &mut Packet,
        bulk: u64,
        random: &mut Pcg32,
    ) -> Fate {
        let mut next = self.next_drop;
        let is_due = self.count > 0 && now >= next;
        if cobalt.is_too_long(now.saturating_sub(packet.arrival), bulk) {
            if !self.dropping {
                self.dropping = true;
                self.next_drop = self.after(cobalt, now);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let mut fate = Fate::Sent;
        if is_due && self.dropping {
            let is_new = packet.ecn != Ecn::Experienced;
            fate = match packet.mark() {
                true if is_new => Fate::Marked,
                true => Fate::Sent,
                false => Fate::Dropped,
            };
            self.count_to(cobalt, self.count.saturating_add(1));
            next = self.next_drop;
        } else if is_due {
            // What has been forgiven in the meantime.
            while self.count > 0 && now >= self.next_drop {
                self.count_to(cobalt, self.count - 1);
            }
            next = self.next_drop;
        }
        if self.probability > 0 && random.next_u32() < self.probability {
            fate = Fate::Dropped;
        }
        if self.count == 0 {
            self.next_drop = now.saturating_add(cobalt.interval);
        } else if now > next && fate != Fate::Dropped {
            self.next_drop = now;
        }
        fate
    }

    fn may_step(&self, cobalt: &Cobalt, now: Nanos) -> bool {
        self.last_step.is_none_or(|last| now.saturating_sub(last) > cobalt.target)
    }

    fn count_to(&mut self, cobalt: &Cobalt, count: u32) {
        self.count = count;
        self.inverse_root = match ROOTS.get(count as usize) {
            Some(root) => *root,
            None => newton(count, self.inverse_root),
        };
        self.next_drop = self.after(cobalt, self.next_drop);
    }

    /// CoDel's control law: `interval / sqrt(count)` later.
    fn after(&self, cobalt: &Cobalt, time: Nanos) -> Nanos {
        let step = (u128::from(cobalt.interval.0) * u128::from(self.inverse_root)) >> 32;
        time.saturating_add(Nanos(step as u64))
    }
}

impl Cobalt {
    fn is_too_long(&self, waited: Nanos, bulk: u64) -> bool {
        let turns = bulk.saturating_mul(2).max(4);
        waited > self.target && waited.0 > self.packet_time.0.saturating_mul(turns)
    }
}
