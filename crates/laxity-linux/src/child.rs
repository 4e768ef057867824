//! Programs that are started.

use std::io;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use crate::sys::done;

/// Has a program end when the thread ends that starts it, however that comes about.
pub fn die_with_thread(command: &mut Command) -> &mut Command {
    let ask = || {
        // SAFETY: this operation takes integers only.
        done(unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0, 0, 0)
        })
    };
    // SAFETY: between fork and exec only a system call is made, which takes no memory.
    unsafe { command.pre_exec(ask) }
}

/// Leaves these descriptors open for a program, under their numbers.
pub(crate) fn inherit(command: &mut Command, descriptors: Vec<RawFd>) {
    let leave = move || {
        descriptors.iter().try_for_each(|descriptor| {
            // SAFETY: this operation takes integers only.
            done(unsafe { libc::fcntl(*descriptor, libc::F_SETFD, 0) })
        })
    };
    // SAFETY: between fork and exec only system calls are made, which take no memory.
    unsafe { command.pre_exec(leave) };
}

/// Asks a program to end (SIGTERM). It must not have been waited for.
///
/// # Errors
/// If the system refuses.
pub fn terminate(child: &Child) -> io::Result<()> {
    let process = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    // SAFETY: takes integers only.
    done(unsafe { libc::kill(process, libc::SIGTERM) })
}
