//! When the next packet may start.

use laxity::link::Link;
use laxity::units::Nanos;

use crate::Pace;

/// A busy link is at most this far behind the clock: what a thread loses to others on a loaded
/// machine is made up for, a suspended machine's pause is not.
const CATCH_UP: Nanos = Nanos(10_000_000);

/// Spaces packets on a link, or does not.
pub(crate) struct Pacer {
    link: Option<Link>,
    /// Whether there was nothing to send when the link was last free.
    is_idle: bool,
}

impl Pacer {
    pub fn new(pace: Pace) -> Self {
        let link = match pace {
            Pace::Sink => None,
            Pace::Link(rate) => Some(Link::new(rate)),
        };
        Pacer { link, is_idle: true }
    }

    /// When the link is free, if it is not by now.
    pub fn busy_until(&self, now: Nanos) -> Option<Nanos> {
        self.link.as_ref().map(Link::free_at).filter(|&free_at| free_at > now)
    }

    /// Starts a packet on a link that is free. In a busy period it counts as started when the link
    /// became free, so that a late thread costs no capacity and nothing drifts.
    pub fn start(&mut self, now: Nanos, length: u32) {
        let Some(link) = &mut self.link else { return };
        let earliest = if self.is_idle { now } else { now.saturating_sub(CATCH_UP) };
        let start = earliest.max(link.free_at());
        link.transmit(start, length);
        self.is_idle = false;
    }

    /// Says that there is nothing to send while the link is free.
    pub fn idle(&mut self) {
        self.is_idle = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity::units::Rate;
    use proptest::prelude::*;

    /// One byte a microsecond.
    const RATE: Rate = Rate(8_000_000);

    #[test]
    fn without_a_link_nothing_waits() {
        let mut pacer = Pacer::new(Pace::Sink);
        pacer.start(Nanos(5), 1_000_000);
        assert_eq!(pacer.busy_until(Nanos(5)), None);
    }

    #[test]
    fn an_idle_link_gains_nothing() {
        let mut pacer = Pacer::new(Pace::Link(RATE));
        pacer.start(Nanos(0), 100);
        assert_eq!(pacer.busy_until(Nanos(99_999)), Some(Nanos(100_000)));
        assert_eq!(pacer.busy_until(Nanos(100_000)), None);
        pacer.idle();
        pacer.start(Nanos(500_000), 100);
        assert_eq!(pacer.busy_until(Nanos(500_000)), Some(Nanos(600_000)));
    }

    #[test]
    fn only_a_short_delay_is_made_up_for() {
        let mut pacer = Pacer::new(Pace::Link(RATE));
        pacer.start(Nanos(0), 100);
        let late = Nanos(1_000_000_000);
        pacer.start(late, 100);
        let caught_up = late.saturating_sub(CATCH_UP).saturating_add(Nanos(100_000));
        assert_eq!(pacer.busy_until(Nanos::ZERO), Some(caught_up));
    }

    proptest! {
        #[test]
        fn a_busy_link_ends_where_arithmetic_says(
            rate in 1_000_000u64..1_000_000_000_000,
            packets in prop::collection::vec((1u32..9_000, 0u64..1_000_000), 1..200),
        ) {
            let mut pacer = Pacer::new(Pace::Link(Rate(rate)));
            let mut now = Nanos::ZERO;
            for &(length, delay) in &packets {
                if let Some(free_at) = pacer.busy_until(Nanos::ZERO) {
                    now = now.max(free_at.saturating_add(Nanos(delay)));
                }
                pacer.start(now, length);
            }
            let total = packets.iter().map(|&(length, _)| u64::from(length)).sum();
            let end = Rate(rate).time_for(laxity::units::Bytes(total));
            prop_assert_eq!(pacer.busy_until(Nanos::ZERO), Some(end));
        }
    }
}
