//! Limits of a jail's processes, and the rights that they give up.

use std::io;
use std::path::PathBuf;

use caps::{CapSet, Capability};
use landlock::{ABI, AccessFs};

use super::{Limits, calls};
use crate::error::{Doing, Error, refused};
use crate::sandbox::{Landlock, no_new_privileges, restrict_files};
use crate::sys::{check, done};

/// Limit of a process's address space, in bytes. Programs touch little of what they map.
const MAPPED: u64 = 4 << 30;
/// How many files a process may have open: bash keeps its script at 255. Each pipe holds memory
/// that no process has.
const OPEN_FILES: u64 = 256;
/// At this limit the kernel writes no core, and starts no program of the machine to take one.
pub const NO_CORE: u64 = 1;

/// Bounds what each process takes.
pub fn limit(limits: &Limits) -> io::Result<()> {
    // The kernel's own bound is a little beyond ours, which tells that it was met.
    let processes = limits.processes.saturating_add(50);
    let bounds = [
        (libc::RLIMIT_NPROC, processes),
        (libc::RLIMIT_AS, MAPPED),
        (libc::RLIMIT_NOFILE, OPEN_FILES),
        (libc::RLIMIT_CORE, NO_CORE),
        (libc::RLIMIT_RTPRIO, 0),
        (libc::RLIMIT_NICE, 0),
        (libc::RLIMIT_MEMLOCK, 0),
        (libc::RLIMIT_MSGQUEUE, 0),
    ];
    for (resource, most) in bounds {
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        // SAFETY: `limit` lives as long as the call.
        check(unsafe { libc::setrlimit(resource, &limit) })?;
    }
    Ok(())
}

/// Gives up what a script needs not, for good.
pub fn restrict() -> Result<(), Error> {
    let kept = Capability::CAP_DAC_READ_SEARCH;
    let given_up = "give up capabilities";
    for other in caps::all().into_iter().filter(|other| *other != kept) {
        caps::drop(None, CapSet::Bounding, other).map_err(io::Error::other).doing(given_up)?;
    }
    let (one, none) = (caps::CapsHashSet::from([kept]), caps::CapsHashSet::new());
    for (set, left) in
        [(CapSet::Inheritable, &none), (CapSet::Effective, &one), (CapSet::Permitted, &one)]
    {
        caps::set(None, set, left).map_err(io::Error::other).doing(given_up)?;
    }
    no_new_privileges().doing("forbid new privileges")?;
    guard_files()?;
    calls::restrict()
}

/// Restricts writing to the jail's own folders, independently of the mounts.
fn guard_files() -> Result<(), Error> {
    let writes = AccessFs::from_write(ABI::V6);
    let own = ["/tmp", "/run", "/var/tmp", "/dev"].map(PathBuf::from);
    let doing = "restrict where files are written";
    match restrict_files(writes, &[(&own, writes)]).doing(doing)? {
        Landlock::None => Err(refused(doing, "the kernel has no Landlock")),
        Landlock::Full | Landlock::Partial => Ok(()),
    }
}

/// Keeps what this process has open from the processes that it starts.
pub fn hide_from_children() -> io::Result<()> {
    // SAFETY: this operation takes integers only.
    done(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) })
}
