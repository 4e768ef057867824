//! Time: what it is, and sleeping until it is later.

mod stamps;

use std::hint;
use std::io;

use laxity::units::Nanos;

pub use self::stamps::Stamps;

/// A clock of the system. Reading one takes some 50 ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clock {
    /// `CLOCK_MONOTONIC`: time since the machine started. It never jumps, and says nothing to other
    /// machines.
    Monotonic,
    /// `CLOCK_TAI`: international atomic time, which is the same on machines that are kept in step
    /// and has no leap seconds. It may be set.
    Tai,
    /// `CLOCK_REALTIME`: the time of day, in which the kernel stamps frames.
    Realtime,
}

impl Clock {
    /// What time it is.
    pub fn now(self) -> Nanos {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is valid for the call to write to.
        unsafe { libc::clock_gettime(self.id(), &mut time) };
        nanos(time)
    }

    /// Sleeps until `at`, also through signals. Waking up takes longer: typically a few
    /// microseconds with a [real-time priority](crate::priority), a hundred without.
    pub fn sleep_until(self, at: Nanos) {
        let until = timespec(at);
        loop {
            let until = std::ptr::from_ref(&until);
            // SAFETY: `until` is valid for the call to read; no rest of a time is asked for.
            let result = unsafe {
                libc::clock_nanosleep(self.id(), libc::TIMER_ABSTIME, until, std::ptr::null_mut())
            };
            if result != libc::EINTR {
                return;
            }
        }
    }

    /// Keeps the processor busy until `at` and says what time it is then. For the last few
    /// microseconds only: a real-time thread that never sleeps is stopped by the kernel for 50 ms
    /// of each second.
    pub fn spin_until(self, at: Nanos) -> Nanos {
        loop {
            let now = self.now();
            if now >= at {
                return now;
            }
            hint::spin_loop();
        }
    }

    pub(crate) fn id(self) -> libc::clockid_t {
        match self {
            Clock::Monotonic => libc::CLOCK_MONOTONIC,
            Clock::Tai => libc::CLOCK_TAI,
            Clock::Realtime => libc::CLOCK_REALTIME,
        }
    }
}

/// The time since a moment, on [`Clock::Monotonic`].
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    started: Nanos,
}

impl Stopwatch {
    /// Starts one now.
    pub fn start() -> Self {
        Stopwatch { started: Clock::Monotonic.now() }
    }

    /// The time since it was started.
    pub fn elapsed(self) -> Nanos {
        self.time_of(Clock::Monotonic.now())
    }

    /// What it shows at a time of [`Clock::Monotonic`].
    fn time_of(self, time: Nanos) -> Nanos {
        time.saturating_sub(self.started)
    }
}

/// How long this thread has been running on a processor.
pub fn processor_time() -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for the call to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    nanos(time)
}

/// Seconds by which TAI is ahead of UTC: 37 since 2017. 0 if the kernel does not know it; then
/// [`Clock::Tai`] shows UTC.
pub fn tai_offset() -> io::Result<i32> {
    let mut state = crate::sys::zeroed::<libc::timex>();
    // SAFETY: `state` is valid for the call; with no modes set it only reads the clock's state.
    crate::sys::check(unsafe { libc::adjtimex(&mut state) })?;
    Ok(state.tai)
}

crate::sys::plain!(libc::timex);

pub(crate) fn nanos(time: libc::timespec) -> Nanos {
    let (seconds, rest) = (time.tv_sec.max(0) as u64, time.tv_nsec.max(0) as u64);
    Nanos(seconds.saturating_mul(1_000_000_000).saturating_add(rest))
}

pub(crate) fn timespec(time: Nanos) -> libc::timespec {
    let (seconds, rest) = (time.0 / 1_000_000_000, time.0 % 1_000_000_000);
    libc::timespec { tv_sec: seconds as libc::time_t, tv_nsec: rest as libc::c_long }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_go_on_and_sleeping_never_ends_early() {
        for clock in [Clock::Monotonic, Clock::Tai, Clock::Realtime] {
            let before = clock.now();
            let at = before + Nanos(2_000_000);
            clock.sleep_until(at);
            assert!(clock.now() >= at, "{clock:?}");
            let later = at + Nanos(1_000_000);
            assert!(clock.spin_until(later) >= later);
        }
    }

    #[test]
    fn times_pass_through_the_kernels_form() {
        for time in [0, 1, 999_999_999, 1_000_000_000, 1 << 62] {
            assert_eq!(nanos(timespec(Nanos(time))), Nanos(time));
        }
    }

    #[test]
    fn tai_is_ahead_of_the_time_of_day_by_its_offset() {
        let offset = tai_offset().expect("reading is allowed to all");
        let (day, tai) = (Clock::Realtime.now().0 as i64, Clock::Tai.now().0 as i64);
        let apart = tai - day - i64::from(offset) * 1_000_000_000;
        assert!((0..1_000_000_000).contains(&apart), "{apart} ns apart");
    }
}
