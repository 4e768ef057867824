//! Giving up what is no longer needed, before frames of strangers are read.
//!
//! A forwarder opens its sockets with privilege and then lets go of it, for good:
//!
//! 1. every capability, also those that a program which it starts would get;
//! 2. the file system but for some paths, TCP ports, and signals to others (Landlock, as far as the
//!    kernel has it);
//! 3. every system call that forwarding does not need (seccomp): a thread that makes another one
//!    ends its process. Files cannot be opened, which is answered with an error.
//!
//! | | capabilities to open | system calls afterwards, beside [memory, time, waiting and threads](Sandbox::enter) |
//! | --- | --- | --- |
//! | [`packet`](crate::packet) | `CAP_NET_RAW`; `CAP_NET_ADMIN` for a receive buffer beyond `rmem_max` | `recvmmsg`, `sendmmsg`; `bind` and options of packets to go on with an interface that has come back |
//! | [`xdp`](crate::xdp) | `CAP_NET_RAW`, `CAP_NET_ADMIN`, `CAP_BPF`; `CAP_IPC_LOCK` where memory counts against a limit | `sendto` |
//! | [`priority`](crate::priority) | `CAP_SYS_NICE`, `CAP_IPC_LOCK` | |
//! | [`interface::Changes`](crate::interface::Changes) | | `recvfrom`, `sendto` |
//! | a [server](Sandbox::server) | to listen at a port below 1024 `CAP_NET_BIND_SERVICE` | `accept4`, `epoll_ctl`, `epoll_wait` |

mod calls;

use std::io;
use std::path::PathBuf;

use caps::{CapSet, Capability, CapsHashSet};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use crate::error::{Doing, Error};
use crate::sys::done;

/// What a process may still do.
#[derive(Clone, Debug, Default)]
pub struct Sandbox {
    read: Vec<PathBuf>,
    remove: Vec<PathBuf>,
    write: Vec<PathBuf>,
    calls: Vec<i64>,
    capabilities: Vec<Capability>,
}

/// How much of Landlock the kernel has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "nothing else can be said of it")]
pub enum Landlock {
    /// All that was asked for.
    Full,
    /// Some of it: the kernel is older.
    Partial,
    /// Nothing: files are guarded by their permissions and by the filter of calls alone.
    None,
}

impl Sandbox {
    /// One that allows no files, and no calls but what forwarding takes.
    pub fn new() -> Self {
        Sandbox::default()
    }

    /// Lets files at and below this path be read.
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.read.push(path.into());
        self
    }

    /// Lets files below this folder be removed.
    pub fn remove(mut self, folder: impl Into<PathBuf>) -> Self {
        self.remove.push(folder.into());
        self
    }

    /// Lets files below this folder be made, read, written, linked within their folder and removed.
    pub fn write(mut self, folder: impl Into<PathBuf>) -> Self {
        self.write.push(folder.into());
        self
    }

    /// Lets this thread wait for many sockets at once and take what connects to those that listen.
    pub fn server(mut self) -> Self {
        self.calls.extend(calls::SERVING);
        self
    }

    /// Allows a system call, such as `libc::SYS_accept4`, with any arguments.
    pub fn call(mut self, number: i64) -> Self {
        self.calls.push(number);
        self
    }

    /// Leaves a capability, if there is such a one.
    pub(crate) fn capability(mut self, capability: Capability) -> Self {
        self.capabilities.push(capability);
        self
    }

    /// Lets what is open be asked whether it is a terminal, and how wide.
    pub fn terminal(self) -> Self {
        self.call(libc::SYS_ioctl)
    }

    /// Closes the sandbox around the calling thread and those that it starts afterwards, for good.
    /// Call it before there are other threads: they keep what they have.
    ///
    /// What stays allowed without being named: memory (`mmap` without execution, `brk`, `madvise`),
    /// time, `ppoll` and `futex`, reading, writing and closing what is open, signals' returns,
    /// threads, the end. Files may be opened where paths are named.
    ///
    /// # Errors
    /// If a path does not exist, or the kernel has no seccomp.
    pub fn enter(self) -> Result<Landlock, Error> {
        for path in self.read.iter().chain(&self.remove).chain(&self.write) {
            path.metadata().doing(format!("allow access to {}", path.display()))?;
        }
        no_new_privileges().doing("forbid new privileges")?;
        drop_capabilities_but(&self.capabilities)?;
        let abi = ABI::V6;
        let rules = [
            (&self.read[..], AccessFs::from_read(abi)),
            (&self.remove, AccessFs::RemoveFile.into()),
            (&self.write, writing()),
        ];
        let landlock = restrict_files(AccessFs::from_all(abi), &rules);
        let landlock = landlock.doing("restrict the file system")?;
        let writes = !self.write.is_empty();
        let removing = if self.remove.is_empty() && !writes { &[] } else { calls::REMOVING };
        let linking = if writes { calls::LINKING } else { &[] };
        let opens = writes || !self.read.is_empty();
        calls::restrict(&[&self.calls, removing, linking].concat(), opens)?;
        Ok(landlock)
    }
}

/// What [`Sandbox::write`] allows.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::RemoveFile
}

/// Denies this `access` to files but for what the `rules` allow, all TCP ports, and signals to
/// others, as far as the kernel has Landlock.
pub(crate) fn restrict_files(
    access: BitFlags<AccessFs>,
    rules: &[(&[PathBuf], BitFlags<AccessFs>)],
) -> io::Result<Landlock> {
    // The newest that the kernel may have; on older ones there is less.
    let abi = ABI::V6;
    let restricted = || -> Result<_, RulesetError> {
        let ruleset = Ruleset::default()
            .handle_access(access)?
            .handle_access(AccessNet::from_all(abi))?
            .scope(Scope::from_all(abi))?
            .create()?;
        let add = |ruleset: RulesetCreated, (paths, allowed): &(&[PathBuf], _)| {
            ruleset.add_rules(path_beneath_rules(*paths, *allowed))
        };
        rules.iter().try_fold(ruleset, add)?.restrict_self()
    };
    Ok(match restricted().map_err(io::Error::other)?.ruleset {
        RulesetStatus::FullyEnforced => Landlock::Full,
        RulesetStatus::PartiallyEnforced => Landlock::Partial,
        RulesetStatus::NotEnforced => Landlock::None,
    })
}

pub(crate) fn no_new_privileges() -> io::Result<()> {
    let [yes, none]: [libc::c_ulong; 2] = [1, 0];
    // SAFETY: this operation takes integers only.
    done(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, yes, none, none, none) })
}

/// Whether the calling thread has a capability now.
pub(crate) fn has_capability(capability: Capability) -> bool {
    caps::has_cap(None, CapSet::Effective, capability).unwrap_or(false)
}

/// Gives up every capability of the calling thread.
///
/// # Errors
/// If the kernel refuses, which it has no reason to.
pub fn drop_capabilities() -> Result<(), Error> {
    drop_capabilities_but(&[])
}

/// Gives up capabilities of the calling thread but for these. What a program that it starts could
/// get goes first, as that takes one of them; a thread that lacks it keeps that set, which means
/// nothing once new privileges are forbidden.
fn drop_capabilities_but(kept: &[Capability]) -> Result<(), Error> {
    let kept: CapsHashSet = kept.iter().copied().filter(|it| has_capability(*it)).collect();
    let bounding = has_capability(Capability::CAP_SETPCAP).then_some(CapSet::Bounding);
    for set in bounding.into_iter().chain([CapSet::Ambient, CapSet::Inheritable]) {
        let cleared = caps::clear(None, set).map_err(io::Error::other);
        cleared.doing(format!("give up capabilities ({set:?})"))?;
    }
    for set in [CapSet::Effective, CapSet::Permitted] {
        let cleared = caps::set(None, set, &kept).map_err(io::Error::other);
        cleared.doing(format!("give up capabilities ({set:?})"))?;
    }
    Ok(())
}
