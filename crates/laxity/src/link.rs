//! The transmitter of a link: when a packet's last bit leaves.

mod trace;

use alloc::sync::Arc;
use core::hint::select_unpredictable;

pub use trace::{Trace, TraceError};

use crate::sched::pace::Pace;
use crate::units::{NANOBITS_PER_BYTE, Nanos, Rate};

/// A link that sends one packet at a time, at a constant rate or by a [`Trace`].
///
/// A transmission may not take a whole number of nanoseconds. Its remainder goes to the next
/// transmission of the same busy period, so that rounding never accumulates: after any number of
/// back-to-back packets the link is free exactly when arithmetic says.
#[derive(Clone, Debug)]
pub struct Link {
    pace: Pace,
    /// When the last transmission ends, rounded up.
    free_at: Nanos,
    /// By how much `free_at` is rounded up, in `1/rate` of a nanosecond.
    rounding: u64,
    /// Rates over time, in place of the constant rate.
    trace: Option<Arc<Trace>>,
}

impl Link {
    /// An idle link. The rate is clamped to 1 bit/s up to [`Rate::LIMIT`].
    pub fn new(rate: Rate) -> Self {
        Link { pace: Pace::new(rate), free_at: Nanos::ZERO, rounding: 0, trace: None }
    }

    /// An idle link that sends by a trace; `nominal` is only shown by [`rate`](Self::rate).
    pub fn varying(trace: Arc<Trace>, nominal: Rate) -> Self {
        Link { trace: Some(trace), ..Link::new(nominal) }
    }

    /// Its rate, nominal if it has a trace.
    pub fn rate(&self) -> Rate {
        self.pace.rate()
    }

    /// Sets another constant rate, clamped as in [`new`](Self::new), from the next packet on.
    pub fn set_rate(&mut self, rate: Rate) {
        *self = Link { free_at: self.free_at, ..Link::new(rate) };
    }

    /// Goes on as another link from the next packet on: at the rate of that one, or by its trace.
    pub fn change_to(&mut self, link: Link) {
        *self = Link { free_at: self.free_at, ..link };
    }

    /// How long its rate takes for what it can send between two times, rounded up: where the rate
    /// is constant, that is the time between them.
    pub fn capacity(&self, from: Nanos, to: Nanos) -> Nanos {
        match &self.trace {
            None => to.saturating_sub(from),
            Some(trace) => {
                let work = trace.served(to).saturating_sub(trace.served(from));
                let time = work.div_ceil(u128::from(self.rate().0));
                Nanos(u64::try_from(time).unwrap_or(u64::MAX))
            }
        }
    }

    /// When it has sent everything it was given, rounded up to the next nanosecond.
    pub fn free_at(&self) -> Nanos {
        self.free_at
    }

    /// Is not free before then.
    pub fn hold_until(&mut self, until: Nanos) {
        if until > self.free_at {
            (self.free_at, self.rounding) = (until, 0);
        }
    }

    /// Starts to send `length` bytes at `now`, which is not before [`free_at`](Self::free_at), and
    /// returns when the last bit leaves, rounded up to the next nanosecond.
    #[inline]
    pub fn transmit(&mut self, now: Nanos, length: u32) -> Nanos {
        debug_assert!(now >= self.free_at);
        let carried = select_unpredictable(now == self.free_at, self.rounding, 0);
        if self.trace.is_some() {
            return self.transmit_by_trace(now, length, carried);
        }
        let work = u64::from(length).checked_mul(NANOBITS_PER_BYTE);
        let work = work.and_then(|work| work.checked_sub(carried));
        let (nanos, rounding) = match work {
            Some(work) => self.round_up(work),
            None => self.round_up_any(length, carried),
        };
        self.rounding = rounding;
        self.free_at = now.saturating_add(Nanos(nanos));
        self.free_at
    }

    fn transmit_by_trace(&mut self, now: Nanos, length: u32, carried: u64) -> Nanos {
        let Some(trace) = &self.trace else { return self.free_at };
        let work = u128::from(length) * u128::from(NANOBITS_PER_BYTE);
        let target = (trace.served(now) + work).saturating_sub(carried.into());
        self.free_at = trace.when(target).max(now);
        self.rounding = trace.served(self.free_at).saturating_sub(target) as u64;
        self.free_at
    }

    /// How long work takes, rounded up, and by how much.
    #[inline]
    fn round_up(&self, work: u64) -> (u64, u64) {
        let (nanos, rest) = self.pace.divide(work);
        if rest == 0 { (nanos, 0) } else { (nanos + 1, self.rate().0 - rest) }
    }

    /// As [`round_up`](Self::round_up), for a packet of 2 GB or more, and for one that fits into
    /// the rounding.
    #[cold]
    fn round_up_any(&self, length: u32, carried: u64) -> (u64, u64) {
        let rate = i128::from(self.rate().0);
        let work = i128::from(length) * i128::from(NANOBITS_PER_BYTE) - i128::from(carried);
        let nanos = (work.max(0) + rate - 1) / rate;
        (nanos as u64, (nanos * rate - work) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn back_to_back_packets_end_where_arithmetic_says(
            rate in 1_000u64..1_000_000_000_000,
            lengths in prop::collection::vec(40u32..9000, 1..200),
        ) {
            let mut link = Link::new(Rate(rate));
            let mut now = Nanos::ZERO;
            for &length in &lengths {
                now = link.transmit(now, length);
            }
            let total: u64 = lengths.iter().map(|&l| u64::from(l)).sum();
            prop_assert_eq!(now, Rate(rate).time_for(crate::units::Bytes(total)));
        }
    }

    #[test]
    fn a_link_can_send_what_its_trace_says_and_goes_on_as_another() {
        let trace = Trace::new([(Nanos(0), 8_000_000), (Nanos(1_000), 0)], Some(Nanos(2_000)));
        let mut link = Link::varying(Arc::new(trace.unwrap()), Rate(2_000_000));
        assert_eq!(link.capacity(Nanos(0), Nanos(2_000)), Nanos(4_000));
        assert_eq!(link.capacity(Nanos(1_000), Nanos(1_999)), Nanos(0));
        assert_eq!(link.capacity(Nanos(999), Nanos(2_001)), Nanos(8));
        assert_eq!(link.transmit(Nanos(500), 1), Nanos(2_500));
        link.change_to(Link::new(Rate(8_000_000)));
        assert_eq!(link.free_at(), Nanos(2_500));
        assert_eq!(link.capacity(Nanos(5), Nanos(7)), Nanos(2));
        assert_eq!(link.transmit(Nanos(2_500), 1), Nanos(3_500));
    }

    #[test]
    fn ten_million_packets_at_a_gigabit_do_not_drift() {
        let mut link = Link::new(Rate(1_000_000_000));
        let mut now = Nanos::ZERO;
        for _ in 0..10_000_000 {
            now = link.transmit(now, 1_499);
        }
        assert_eq!(now, Nanos(10_000_000 * 1_499 * 8));
    }
}
