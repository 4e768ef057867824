//! The kernel's stamps on the time of a stopwatch.

use laxity::units::Nanos;

use super::{Clock, Stopwatch};

/// Puts stamps of the kernel on the time of a [`Stopwatch`], also while the time of day is set.
///
/// The kernel stamps frames by the time of day. What that is ahead of the stopwatch changes only
/// when it is set: where it is slewed, `CLOCK_MONOTONIC` is as well. Two clocks are read for all
/// frames that were taken in together.
#[derive(Debug)]
pub struct Stamps {
    time: Stopwatch,
    offsets: Offsets,
}

/// What the time of day is ahead of a stopwatch.
#[derive(Clone, Copy, Debug)]
struct Offsets {
    ahead: i64,
    /// The same before the time of day was set, as long as there may be frames from then.
    before: i64,
    /// When it was set.
    set_at: Nanos,
}

/// Two readings of offsets that differ by less are the same, in ns.
const SAME: i64 = 20_000;
/// Two clocks that are read at once are read within this time, in ns.
const AT_ONCE: u64 = 20_000;
/// As often it is tried to read them so.
const TRIES: u32 = 8;
/// Frames are not older than this when they are taken in, where the time of day was set.
const OLDEST: Nanos = Nanos(10_000_000_000);

impl Stamps {
    /// On the time of this stopwatch.
    pub fn new(time: Stopwatch) -> Self {
        let ahead = read_at_once(time).unwrap_or_else(|| ahead(time.elapsed()));
        Stamps { time, offsets: Offsets { ahead, before: ahead, set_at: Nanos::ZERO } }
    }

    /// Reads the clocks, after frames were taken in. Returns the stopwatch's time.
    pub fn read(&mut self) -> Nanos {
        let now = self.time.elapsed();
        // A thread may be interrupted between two clocks: only what is read at once counts.
        if self.offsets.differ(ahead(now))
            && let Some(ahead) = read_at_once(self.time)
        {
            self.offsets.note(now, ahead);
        }
        now
    }

    /// When a frame arrived that is stamped so by a clock, if it was taken in by `now`. A stamp
    /// that cannot be, such as one of the future, counts as `now`.
    pub fn time_of(&self, stamp: Nanos, clock: Clock, now: Nanos) -> Nanos {
        match clock {
            Clock::Monotonic => self.time.time_of(stamp).min(now),
            _ => self.offsets.time_of(stamp, now),
        }
    }
}

impl Offsets {
    /// Whether the time of day was set, if this is what it is ahead.
    fn differ(&self, ahead: i64) -> bool {
        ahead.abs_diff(self.ahead) > SAME as u64
    }

    fn note(&mut self, now: Nanos, ahead: i64) {
        if self.differ(ahead) {
            *self = Offsets { ahead, before: self.ahead, set_at: now };
        }
    }

    /// A frame that waited while the time of day was set has a stamp from before: of both times at
    /// which it may have arrived, it is the later one that is not in the future.
    fn time_of(&self, stamp: Nanos, now: Nanos) -> Nanos {
        let is_recent = now < self.set_at.saturating_add(OLDEST);
        let before = if is_recent { self.before } else { self.ahead };
        let times = [self.ahead, before].map(|ahead| (stamp.0 as i64).saturating_sub(ahead));
        let past = times.into_iter().filter(|time| *time <= now.0 as i64);
        past.max().map_or(now, |time| Nanos(time.max(0) as u64))
    }
}

/// What the time of day is ahead of a stopwatch that shows `now`.
fn ahead(now: Nanos) -> i64 {
    Clock::Realtime.now().0.wrapping_sub(now.0) as i64
}

/// The same, of clocks that are read at once. `None` if they cannot be, on a busy machine.
fn read_at_once(time: Stopwatch) -> Option<i64> {
    (0..TRIES).find_map(|_| {
        let now = time.elapsed();
        let ahead = ahead(now);
        (time.elapsed().0 - now.0 <= AT_ONCE).then_some(ahead)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;
    const DAY: u64 = 1_700_000_000_000_000_000;

    fn stamp(ahead: i64, time: u64) -> Nanos {
        Nanos((ahead + time as i64) as u64)
    }

    #[test]
    fn a_stamp_is_as_old_as_it_is() {
        let time = Stopwatch::start();
        let mut stamps = Stamps::new(time);
        for clock in [Clock::Realtime, Clock::Monotonic] {
            let (before, stamp, after) = (time.elapsed(), clock.now(), time.elapsed());
            let (from, until) = (before.0.saturating_sub(30_000), after.0 + 30_000);
            let now = Nanos(stamps.read().0 + 1_000_000);
            let arrived = stamps.time_of(stamp, clock, now).0;
            assert!((from..=until).contains(&arrived), "{clock:?}: {from} {arrived} {until}");
        }
    }

    /// Set by any amount, both ways, while a frame waits and after that.
    #[test]
    fn setting_the_time_of_day_breaks_nothing() {
        let day = DAY as i64;
        for step in [SECOND / 50, 3_600 * SECOND, -SECOND / 50, -3_600 * SECOND, -day] {
            let mut offsets = Offsets { ahead: day, before: day, set_at: Nanos::ZERO };
            let (early, set, late, now) = (90_000_000, 95_000_000, 99_000_000, 100_000_000);
            offsets.note(Nanos(set), day + step);
            let time_of = |stamp| offsets.time_of(stamp, Nanos(now)).0;
            assert_eq!(time_of(stamp(day, early)), early, "{step}");
            assert_eq!(time_of(stamp(day + step, late)), late, "{step}");
            assert!(time_of(stamp(day + 2 * step.abs(), late)) <= now);
        }
    }

    #[test]
    fn what_it_was_before_is_forgotten() {
        let (day, step) = (DAY as i64, 1_000_000);
        let mut offsets = Offsets { ahead: day, before: day, set_at: Nanos::ZERO };
        offsets.note(Nanos(1_000), day + step);
        let now = OLDEST.0 + 10_000_000;
        let arrived = now - 5_000_000;
        assert_eq!(offsets.time_of(stamp(day + step, arrived), Nanos(now)).0, arrived);
    }

    #[test]
    fn a_stamp_of_the_future_is_of_now_and_one_of_before_the_start_of_the_start() {
        let offsets = Offsets { ahead: DAY as i64, before: DAY as i64, set_at: Nanos::ZERO };
        assert_eq!(offsets.time_of(Nanos(u64::MAX >> 1), Nanos(7)), Nanos(7));
        assert_eq!(offsets.time_of(Nanos(DAY - 5), Nanos(7)), Nanos(0));
        assert_eq!(offsets.time_of(Nanos(0), Nanos(7)), Nanos(0));
    }
}
