//! How late a thread wakes at the boundaries of 250 us frames, by the ways there are to wait.
//!
//! `cargo run --release -p laxity-linux --example lateness [SECONDS]`
#![cfg(target_os = "linux")]

use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use laxity::units::Nanos;
use laxity_linux::clock::Clock;
use laxity_linux::priority;
use laxity_linux::wait::Waiter;

const FRAME: u64 = 250_000;

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2);
    let frames = seconds * 1_000_000_000 / FRAME;
    println!("{:>40}  p50 [us]     p99   p99.9      max", "");
    let ways = |kind: &str| {
        let waiter = &mut Waiter::default();
        report(kind, "clock_nanosleep", frames, |at| Clock::Monotonic.sleep_until(at));
        report(kind, "ppoll", frames, |at| poll(waiter, at));
        let timer = Timer::new();
        report(kind, "timerfd", frames, |at| timer.wait(waiter, at));
        report(kind, "ppoll, then spin for 30 us", frames, |at| {
            poll(waiter, at.saturating_sub(Nanos(30_000)));
            Clock::Monotonic.spin_until(at);
        });
    };
    ways("plain");
    priority::exact_timers().unwrap_or_else(|error| println!("{error}"));
    ways("exact timers");
    let ready = priority::lock_memory().and_then(|()| priority::real_time(50));
    match ready {
        Ok(()) => ways("SCHED_FIFO"),
        Err(error) => println!("{error}"),
    }
}

fn poll(waiter: &mut Waiter, at: Nanos) {
    waiter.wait([], Some(at)).expect("it waits");
}

fn report(kind: &str, way: &str, frames: u64, mut wait: impl FnMut(Nanos)) {
    let start = Clock::Monotonic.now().0 + FRAME;
    let mut late: Vec<u64> = Vec::with_capacity(frames as usize);
    for frame in 0..frames {
        let at = Nanos(start + frame * FRAME);
        wait(at);
        late.push(Clock::Monotonic.now().saturating_sub(at).0);
    }
    late.sort_unstable();
    let [p50, p99, p999] =
        [0.5, 0.99, 0.999].map(|part| late[(part * (late.len() - 1) as f64) as usize]);
    let max = late[late.len() - 1];
    let [p50, p99, p999, max] = [p50, p99, p999, max].map(|time| time as f64 / 1000.0);
    let what = format!("{kind}: {way}");
    println!("{what:>40}  {p50:8.1} {p99:7.1} {p999:7.1} {max:8.1}");
}

/// The other way to wait for a descriptor or a time.
struct Timer(OwnedFd);

impl Timer {
    fn new() -> Timer {
        // SAFETY: takes integers only.
        let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) };
        assert!(fd >= 0);
        // SAFETY: the descriptor was just made and has no other owner.
        Timer(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    fn wait(&self, waiter: &mut Waiter, at: Nanos) {
        let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let (tv_sec, tv_nsec) = ((at.0 / 1_000_000_000) as i64, (at.0 % 1_000_000_000) as i64);
        let until =
            libc::itimerspec { it_interval: none, it_value: libc::timespec { tv_sec, tv_nsec } };
        let (fd, absolute) = (self.0.as_raw_fd(), libc::TFD_TIMER_ABSTIME);
        // SAFETY: `until` is valid for the call to read, and nothing is asked back.
        unsafe { libc::timerfd_settime(fd, absolute, &until, std::ptr::null_mut()) };
        waiter.wait([self.0.as_fd()], None).expect("it waits");
        let mut count = 0u64;
        let into = std::ptr::from_mut(&mut count).cast();
        // SAFETY: `into` has room for eight bytes.
        unsafe { libc::read(fd, into, 8) };
    }
}
