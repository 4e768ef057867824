//! Being run on time: a real-time priority, memory that stays, timers that are exact.

use std::fs::{self, File};
use std::io::Write;

use caps::Capability;

use crate::error::{Doing, Error};
use crate::sandbox::has_capability;
use crate::sys::{check, done};

/// The lowest and the highest real-time priority. The kernel's own interrupt threads have 50.
pub const PRIORITIES: std::ops::RangeInclusive<u8> = 1..=99;

/// Puts the calling thread under `SCHED_FIFO`: it runs whenever it can, before everything that
/// has a lower priority or none. Threads that it starts do not inherit this.
///
/// # Errors
/// Without `CAP_SYS_NICE`, or with a limit `RLIMIT_RTPRIO` below the priority; in a user namespace
/// the capability of the first one counts. A priority that is none of [`PRIORITIES`].
pub fn real_time(priority: u8) -> Result<(), Error> {
    let parameters = libc::sched_param { sched_priority: priority.into() };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: 0 is the calling thread, and `parameters` is valid for the call to read.
    let result = done(unsafe { libc::sched_setscheduler(0, policy, &parameters) });
    result.doing(format!("run at real-time priority {priority}")).map_err(|error| {
        match error.cause().raw_os_error() {
            Some(libc::EPERM) => error.with_hint(why_not(priority)),
            Some(libc::EINVAL) => error.with_hint("priorities are 1 to 99"),
            _ => error,
        }
    })
}

/// What stands in the way of a priority.
fn why_not(priority: u8) -> String {
    let is_capable = has_capability(Capability::CAP_SYS_NICE);
    let is_outside = fs::read_to_string("/proc/self/uid_map")
        .is_ok_and(|map| map.split_whitespace().eq(["0", "0", "4294967295"]));
    if limit() >= u64::from(priority) || is_capable && is_outside {
        return "this control group has no real-time time (cpu.rt_runtime_us)".into();
    }
    if is_capable {
        return "inside a user namespace CAP_SYS_NICE does not count".into();
    }
    format!(
        "it needs CAP_SYS_NICE (run as root, or AmbientCapabilities=CAP_SYS_NICE in a unit), or \
         LimitRTPRIO={priority} (the limit is {})",
        limit()
    )
}

/// The highest priority that needs no capability.
fn limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid for the call to write to.
    unsafe { libc::getrlimit(libc::RLIMIT_RTPRIO, &mut limit) };
    limit.rlim_cur
}

/// Keeps the calling thread on one core of the machine, counted from 0. For a forwarder the best is
/// the one that takes the interfaces' interrupts: being woken there by a frame takes a quarter of
/// the time that it takes from another core (see the example `measure` of laxity-live).
///
/// # Errors
/// If there is no such core, or the process may not use it.
pub fn pin(core: usize) -> Result<(), Error> {
    let mut set = crate::sys::zeroed::<libc::cpu_set_t>();
    if core < libc::CPU_SETSIZE as usize {
        // SAFETY: the set has a place for this core.
        unsafe { libc::CPU_SET(core, &mut set) };
    }
    // SAFETY: 0 is the calling thread, and `set` is valid for the call to read.
    let result = done(unsafe { libc::sched_setaffinity(0, size_of_val(&set), &set) });
    result.doing(format!("keep a thread on core {core}"))
}

crate::sys::plain!(libc::cpu_set_t);

/// Keeps the cores of the machine from sleeping, as long as it is there. A core that sleeps takes
/// some 30 us more to begin with a frame that another core has taken in (see the example `measure`
/// of laxity-live); one that does not takes electricity.
#[derive(Debug)]
pub struct Awake {
    _request: File,
}

impl Awake {
    /// Keeps the processors awake from now on.
    ///
    /// # Errors
    /// Without permission to write to `/dev/cpu_dma_latency`, which is root's.
    pub fn begin() -> Result<Awake, Error> {
        let request = File::options().write(true).open("/dev/cpu_dma_latency");
        let asked = request.and_then(|mut request| {
            // Microseconds, as the machine writes numbers; the request stands until it is closed.
            request.write_all(&0_i32.to_ne_bytes())?;
            Ok(Awake { _request: request })
        });
        asked.doing("keep the machine's cores awake").map_err(|error| {
            error.with_hint("it takes leave to write to /dev/cpu_dma_latency, which is root's")
        })
    }
}

/// Keeps every page of the process in memory once it was touched, so that none is swapped out or
/// dropped again. Memory that the process asks for later is kept, too, if there is no limit to
/// that: within a limit, which holds once `CAP_IPC_LOCK` is given up, it would sooner or later get
/// none.
///
/// # Errors
/// Without `CAP_IPC_LOCK`, if the process is larger than `RLIMIT_MEMLOCK`.
pub fn lock_memory() -> Result<(), Error> {
    let later = if lifts_memory_limit() { libc::MCL_FUTURE } else { 0 };
    let all = libc::MCL_CURRENT | libc::MCL_ONFAULT | later;
    // SAFETY: takes integers only.
    let result = check(unsafe { libc::mlockall(all) });
    let needs = "CAP_IPC_LOCK, or a higher LimitMEMLOCK";
    result.map(|_| ()).doing("keep the process's memory from being swapped").map_err(|error| {
        match error.cause().raw_os_error() {
            Some(libc::EPERM | libc::ENOMEM | libc::EAGAIN) => {
                error.with_hint(format!("it needs {needs}"))
            }
            _ => error,
        }
    })
}

/// Lifts the limit of locked memory as far as that is allowed, and tells whether there is none.
fn lifts_memory_limit() -> bool {
    let none = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `none` is valid for the call to read.
    check(unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &none) }).is_ok()
}

/// Lets timers of the calling thread be exact instead of up to 50 us late, as they are to save
/// wake-ups. Real-time threads have that anyway.
pub fn exact_timers() -> Result<(), Error> {
    let nanosecond: libc::c_ulong = 1;
    // SAFETY: this operation takes one integer.
    let result = done(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, nanosecond) });
    result.doing("make timers exact")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_time_thread_is_one_and_a_refusal_says_why() {
        let checked = std::thread::spawn(|| match real_time(1) {
            Ok(()) => {
                // SAFETY: 0 is the calling thread.
                let policy = unsafe { libc::sched_getscheduler(0) };
                assert_eq!(policy, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK);
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.starts_with("cannot run at real-time priority 1: "), "{text}");
                assert!(text.contains("CAP_SYS_NICE") || text.contains("control group"), "{text}");
            }
        });
        checked.join().expect("the thread asserts");
    }

    #[test]
    fn a_thread_without_the_capability_is_told_what_it_needs() {
        let checked = std::thread::spawn(|| {
            if limit() > 0 {
                return eprintln!("SKIPPED: RLIMIT_RTPRIO allows everyone a priority here");
            }
            caps::clear(None, caps::CapSet::Effective).expect("a thread may drop its own");
            let text = real_time(10).expect_err("nothing allows it").to_string();
            assert!(text.contains("CAP_SYS_NICE") && text.contains("LimitRTPRIO=10"), "{text}");
        });
        checked.join().expect("the thread asserts");
    }

    #[test]
    fn a_pinned_thread_stays_where_it_is_put() {
        let pinned = std::thread::spawn(|| {
            pin(0).expect("there is a first core");
            // SAFETY: asks for nothing but a number.
            assert_eq!(unsafe { libc::sched_getcpu() }, 0);
            assert!(pin(1_000_000).is_err() && pin(1023).is_err());
        });
        pinned.join().expect("the thread asserts");
    }

    #[test]
    fn cores_are_awake_as_long_as_that_is_asked_for() {
        let asked = || {
            let mut bytes = [0; 4];
            let mut file = File::open("/dev/cpu_dma_latency").expect("who may write may read");
            std::io::Read::read_exact(&mut file, &mut bytes).expect("a number");
            i32::from_ne_bytes(bytes)
        };
        match Awake::begin() {
            Ok(awake) => {
                assert_eq!(asked(), 0);
                drop(awake);
                assert!(asked() > 0, "nobody else asks for that");
            }
            Err(error) => {
                eprintln!("SKIPPED: {error}");
                assert!(error.to_string().contains("/dev/cpu_dma_latency"), "{error}");
            }
        }
    }

    #[test]
    fn priorities_are_those_of_the_kernel() {
        for beyond in [0, 100] {
            assert!(!PRIORITIES.contains(&beyond));
            let text = real_time(beyond).expect_err("there is none").to_string();
            assert!(text.contains("1 to 99"), "{text}");
        }
        exact_timers().expect("anyone may");
    }
}
