//! When the next packet may start, for a sender that is woken late.

use crate::link::Link;
use crate::units::{Nanos, Rate};

/// Spaces packets on a link whose clock is not ours. The sender is woken at about the time that the
/// link is free, never earlier.
///
/// A packet counts as started when the link was free and the packet was ready, even if the sender
/// is woken later: so being late costs no capacity, and errors do not add up. It is counted at most
/// `catch_up` before its real start. So in any interval the sender sends at most what the link
/// carries in the interval plus `catch_up`, and one packet. No longer queue builds up at a
/// downstream link of the same rate.
#[derive(Clone, Debug)]
pub struct Pacer {
    link: Link,
    catch_up: Nanos,
}

/// The time that a packet occupies the link by the pacer's count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// When it counts as started.
    pub from: Nanos,
    /// When the link is free again.
    pub until: Nanos,
}

impl Pacer {
    /// A pacer for an idle link of this rate. It makes up for at most `catch_up` of lost time.
    pub fn new(rate: Rate, catch_up: Nanos) -> Self {
        Pacer::over(Link::new(rate), catch_up)
    }

    /// A pacer for an idle link, whose rate may change over time.
    pub fn over(link: Link, catch_up: Nanos) -> Self {
        Pacer { link, catch_up }
    }

    /// The link, as the pacer counts.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// When the link is free by the pacer's count.
    pub fn free_at(&self) -> Nanos {
        self.link.free_at()
    }

    /// Starts a packet of `length` bytes at `now`, which is not before [`free_at`](Self::free_at).
    /// The packet was ready at `ready`.
    pub fn start(&mut self, ready: Nanos, now: Nanos, length: u32) -> Occupancy {
        let earliest = ready.min(now).max(now.saturating_sub(self.catch_up));
        let from = earliest.max(self.link.free_at());
        Occupancy { from, until: self.link.transmit(from, length) }
    }

    /// Holds the link as if it were busy until then.
    pub fn hold_until(&mut self, until: Nanos) {
        self.link.hold_until(until);
    }

    /// Sets another rate, from the next packet on.
    pub fn set_rate(&mut self, rate: Rate) {
        self.link.set_rate(rate);
    }

    /// Goes on with another link, from the next packet on.
    pub fn change_to(&mut self, link: Link) {
        self.link.change_to(link);
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::units::Bytes;
    use proptest::prelude::*;

    /// One byte a microsecond.
    const RATE: Rate = Rate(8_000_000);
    const CATCH_UP: Nanos = Nanos(10_000_000);

    #[test]
    fn a_packet_does_not_count_before_it_was_ready() {
        let mut pacer = Pacer::new(RATE, CATCH_UP);
        pacer.start(Nanos(0), Nanos(0), 100);
        assert_eq!(pacer.free_at(), Nanos(100_000));
        let counted = pacer.start(Nanos(500_000), Nanos(700_000), 100);
        assert_eq!(counted, Occupancy { from: Nanos(500_000), until: Nanos(600_000) });
    }

    #[test]
    fn only_a_short_delay_is_made_up_for() {
        let mut pacer = Pacer::new(RATE, CATCH_UP);
        pacer.start(Nanos(0), Nanos(0), 100);
        let late = Nanos(1_000_000_000);
        let counted = pacer.start(Nanos(0), late, 100);
        assert_eq!(counted.from, late.saturating_sub(CATCH_UP));
        assert_eq!(counted.until, counted.from.saturating_add(Nanos(100_000)));
    }

    #[test]
    fn a_link_that_gets_another_rate_first_ends_what_it_sends() {
        let mut pacer = Pacer::new(RATE, CATCH_UP);
        pacer.start(Nanos(0), Nanos(0), 100);
        pacer.set_rate(Rate(16_000_000));
        assert_eq!(pacer.free_at(), Nanos(100_000));
        let counted = pacer.start(Nanos(0), Nanos(100_000), 100);
        assert_eq!(counted, Occupancy { from: Nanos(100_000), until: Nanos(150_000) });
    }

    proptest! {
        #[test]
        fn a_busy_link_ends_where_arithmetic_says(
            rate in 1_000_000u64..1_000_000_000_000,
            packets in prop::collection::vec((1u32..9_000, 0u64..1_000_000), 1..200),
        ) {
            let mut pacer = Pacer::new(Rate(rate), CATCH_UP);
            let mut now = Nanos::ZERO;
            for &(length, delay) in &packets {
                now = now.max(pacer.free_at().saturating_add(Nanos(delay)));
                pacer.start(Nanos::ZERO, now, length);
            }
            let total = packets.iter().map(|&(length, _)| u64::from(length)).sum();
            // The first packet starts late, and is caught up with as well.
            prop_assert_eq!(pacer.free_at(), Rate(rate).time_for(Bytes(total)));
        }

        /// A downstream queue, served at the link's rate, holds at most a catch-up.
        #[test]
        fn what_comes_together_behind_it_is_at_most_the_catch_up(
            rate in 100_000u64..1_000_000_000, catch_up in 0u64..5_000_000,
            packets in prop::collection::vec((1u32..2_000, 0u64..20_000_000, 0u64..3_000_000), 1..200),
        ) {
            let mut pacer = Pacer::new(Rate(rate), Nanos(catch_up));
            let mut behind = Link::new(Rate(rate));
            let (mut now, mut ready) = (Nanos::ZERO, Nanos::ZERO);
            let mut waits = Vec::new();
            for &(length, late, gap) in &packets {
                ready = ready.max(pacer.free_at()).saturating_add(Nanos(gap));
                now = now.max(ready.saturating_add(Nanos(late)));
                pacer.start(ready, now, length);
                let start = behind.free_at().max(now);
                waits.push(start.saturating_sub(now));
                behind.transmit(start, length);
            }
            prop_assert!(waits.into_iter().all(|wait| wait <= Nanos(catch_up + 1)));
        }
    }
}
