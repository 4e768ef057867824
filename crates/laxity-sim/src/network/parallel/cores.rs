//! Where threads begin: each on a core of its own.
//!
//! Linux may leave threads that one thread has begun on its core for tens of milliseconds, while
//! another core is idle: those that wait for one another take turns there.

#[cfg(target_os = "linux")]
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity},
    unistd::Pid,
};

/// The cores on which threads may begin, but for that of the thread which begins them.
pub(super) struct Cores(Vec<usize>);

#[cfg(target_os = "linux")]
impl Cores {
    /// Those that the present thread may be on.
    pub(super) fn others() -> Self {
        let allowed = sched_getaffinity(THIS).unwrap_or_default();
        let own = sched_getcpu().ok();
        let is_other = |core: &usize| allowed.is_set(*core) == Ok(true) && Some(*core) != own;
        Cores((0..CpuSet::count()).filter(is_other).collect())
    }

    /// The present thread goes on on one of the cores, if there are so many; the system may move it
    /// from there.
    pub(super) fn begin_on(&self, number: usize) {
        let Some(&core) = self.0.get(number) else { return };
        let mut one = CpuSet::new();
        if let Ok(allowed) = sched_getaffinity(THIS)
            && one.set(core).is_ok()
            && sched_setaffinity(THIS, &one).is_ok()
        {
            // It was allowed so much before.
            _ = sched_setaffinity(THIS, &allowed);
        }
    }
}

/// The present thread.
#[cfg(target_os = "linux")]
const THIS: Pid = Pid::from_raw(0);

/// Elsewhere the system is left to it.
#[cfg(not(target_os = "linux"))]
impl Cores {
    /// None that are known.
    pub fn others() -> Self {
        Cores(Vec::new())
    }

    /// Does nothing.
    pub fn begin_on(&self, _: usize) {}
}
