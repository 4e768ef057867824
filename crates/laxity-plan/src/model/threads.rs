//! A link that several threads serve.

use laxity::units::{Bytes, Nanos, Rate};

/// The threads that serve a link together. Each has a scheduler of its own for the packets of its
/// flows, and at least an equal share of the rate for as long as it has something to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a plain value of plans")]
pub struct ThreadsSpec {
    /// How many.
    pub count: u16,
    /// The rate of the link as a whole, in bits a second.
    pub rate: Rate,
}

impl ThreadsSpec {
    /// The most threads.
    pub const MOST: u16 = 64;

    /// The share that each thread can count on.
    pub fn share(self) -> Rate {
        Rate(self.rate.0 / u64::from(self.count))
    }

    /// How long a thread that gets something to send may have less than its share: until each of
    /// the others has sent a packet.
    pub fn patience(self, max_packet: Bytes) -> Nanos {
        self.share().time_for(max_packet).saturating_add(ROUNDING)
    }

    /// How late a thread's packets may be, beside those of a link that is its share: after it has
    /// waited for that, and when on the real link a packet of each of the others goes before.
    pub fn stall(self, max_packet: Bytes) -> Nanos {
        let others = Bytes(max_packet.0.saturating_mul(u64::from(self.count) - 1));
        let behind = self.rate.time_for(others).saturating_add(ROUNDING);
        self.patience(max_packet).saturating_add(behind)
    }
}

/// Times are whole.
const ROUNDING: Nanos = Nanos(1);
