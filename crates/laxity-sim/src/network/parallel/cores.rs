//! Threads begin on a core of their own.
//!
//! Linux may leave threads on the core of the thread that started them for tens of milliseconds,
//! while another core is idle. Threads that wait for one another take turns there.

#[cfg(target_os = "linux")]
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity},
    unistd::Pid,
};

/// The cores on which threads may begin, without that of the thread that starts them.
pub(super) struct Cores(Vec<usize>);

#[cfg(target_os = "linux")]
impl Cores {
    /// The other cores of the present thread.
    pub(super) fn others() -> Self {
        let allowed = sched_getaffinity(THIS).unwrap_or_default();
        let own = sched_getcpu().ok();
        let is_other = |core: &usize| allowed.is_set(*core) == Ok(true) && Some(*core) != own;
        Cores((0..CpuSet::count()).filter(is_other).collect())
    }

    /// Moves the present thread to one of the cores, if there is one of this number. The system may
    /// move it again.
    pub(super) fn begin_on(&self, number: usize) {
        let Some(&core) = self.0.get(number) else { return };
        let mut one = CpuSet::new();
        if let Ok(allowed) = sched_getaffinity(THIS)
            && one.set(core).is_ok()
            && sched_setaffinity(THIS, &one).is_ok()
        {
            // It was allowed these before.
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
    pub(super) fn others() -> Self {
        Cores(Vec::new())
    }

    /// Moves nothing.
    pub(super) fn begin_on(&self, number: usize) {
        let _ = self.0.get(number);
    }
}
