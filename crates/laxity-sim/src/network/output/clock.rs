//! What a node's clock shows, and when it will show something.

use laxity::units::Nanos;
use laxity_plan::model::Clock;

/// The clock of a node, which shows zero until its time has begun and never goes back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeClock(Option<Clock>);

impl NodeClock {
    pub(crate) fn new(clock: Clock) -> Self {
        NodeClock((clock.offset != 0 || clock.drift != 0).then_some(clock))
    }

    /// What it shows at a time. Where it is set back, it stands still until that time comes again.
    #[inline]
    pub(crate) fn at(&self, time: Nanos) -> Nanos {
        let Some(clock) = &self.0 else { return time };
        let shown = |time: u64| time.saturating_add_signed(clock.error(Nanos(time)));
        let set = time.0 - time.0 % clock.sync.0;
        Nanos(shown(time.0).max(if set > 0 { shown(set - 1) } else { 0 }))
    }

    /// The first time after `now` at which it shows `local` or more, or is set.
    pub(crate) fn when(&self, now: Nanos, local: Nanos) -> Nanos {
        let Some(clock) = &self.0 else { return local };
        let set = (now.0 / clock.sync.0).saturating_add(1).saturating_mul(clock.sync.0);
        let (mut too_early, mut late_enough) = (now.0, set);
        while late_enough - too_early > 1 {
            let middle = too_early.midpoint(late_enough);
            if self.at(Nanos(middle)) < local {
                too_early = middle;
            } else {
                late_enough = middle;
            }
        }
        Nanos(late_enough)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn when_is_the_first_time(
            offset in -3_000..3_000i64, drift in -9_000_000..9_000_000i64, sync in 1_000..100_000u64,
            now in 0..1_000_000u64, ahead in 1..5_000u64,
        ) {
            let clock = NodeClock::new(Clock { offset, drift, sync: Nanos(sync) });
            let local = Nanos(clock.at(Nanos(now)).0 + ahead);
            let when = clock.when(Nanos(now), local);
            let is_set = |time: u64| time.is_multiple_of(sync);
            let is_it = |time: &u64| clock.at(Nanos(*time)) >= local || is_set(*time);
            prop_assert_eq!(Some(when.0), (now + 1..).find(is_it));
        }
    }

    #[test]
    fn a_clock_that_is_set_back_stands_still() {
        let clock = NodeClock::new(Clock { offset: 0, drift: 100_000_000, sync: Nanos(1_000) });
        let shown = [0, 500, 999, 1_000, 1_090, 1_091, 1_500].map(|time| clock.at(Nanos(time)).0);
        assert_eq!(shown, [0, 550, 1_098, 1_098, 1_099, 1_100, 1_550]);
    }

    #[test]
    fn a_perfect_clock_shows_the_time() {
        let clock = NodeClock::new(Clock::default());
        assert_eq!(clock.at(Nanos(17)), Nanos(17));
        assert_eq!(clock.when(Nanos(17), Nanos(20)), Nanos(20));
    }
}
