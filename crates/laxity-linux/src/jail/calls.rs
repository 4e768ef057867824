//! The system calls of a script and of the programs that it starts.

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompRule,
};

use crate::error::Error;
use crate::seccomp::{Calls, allowing, answered, apply, condition};

/// With any arguments. A call that is not named is answered with `EPERM`, so that a new one of the
/// kernel's is refused. One of another calling convention ends the process.
#[rustfmt::skip]
const FREELY: &[i64] = &[
    // programs and processes
    libc::SYS_execve, libc::SYS_execveat, libc::SYS_exit, libc::SYS_exit_group, libc::SYS_wait4,
    libc::SYS_waitid, libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill, libc::SYS_getpid,
    libc::SYS_getppid, libc::SYS_gettid, libc::SYS_setpgid, libc::SYS_getpgid, libc::SYS_setsid,
    libc::SYS_getsid, libc::SYS_prctl, libc::SYS_getrlimit, libc::SYS_getrusage, libc::SYS_times, libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal, libc::SYS_set_tid_address, libc::SYS_set_robust_list,
    libc::SYS_get_robust_list, libc::SYS_futex, libc::SYS_rseq, libc::SYS_membarrier,
    libc::SYS_getpriority, libc::SYS_ioprio_get,
    libc::SYS_sched_yield, libc::SYS_sched_getaffinity, libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler, libc::SYS_sched_getattr,
    libc::SYS_sched_get_priority_max, libc::SYS_sched_get_priority_min, libc::SYS_getcpu,
    // users
    libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getgid, libc::SYS_getegid, libc::SYS_getgroups,
    libc::SYS_setgroups, libc::SYS_getresuid, libc::SYS_getresgid, libc::SYS_setuid,
    libc::SYS_setgid, libc::SYS_setreuid, libc::SYS_setregid, libc::SYS_setresuid,
    libc::SYS_setresgid, libc::SYS_setfsuid, libc::SYS_setfsgid, libc::SYS_capget,
    libc::SYS_capset,
    // signals and time
    libc::SYS_rt_sigaction, libc::SYS_rt_sigprocmask, libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending, libc::SYS_rt_sigsuspend, libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigqueueinfo, libc::SYS_sigaltstack, libc::SYS_restart_syscall,
    libc::SYS_clock_gettime, libc::SYS_clock_getres, libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep, libc::SYS_gettimeofday, libc::SYS_getitimer, libc::SYS_setitimer,
    libc::SYS_timer_create, libc::SYS_timer_settime, libc::SYS_timer_gettime,
    libc::SYS_timer_getoverrun, libc::SYS_timer_delete, libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime, libc::SYS_timerfd_gettime, libc::SYS_signalfd4,
    // memory
    libc::SYS_brk, libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_mprotect,
    libc::SYS_madvise, libc::SYS_msync, libc::SYS_mincore, libc::SYS_mlock, libc::SYS_munlock,
    // files
    libc::SYS_openat, libc::SYS_openat2, libc::SYS_close, libc::SYS_close_range, libc::SYS_read,
    libc::SYS_readv, libc::SYS_pread64, libc::SYS_preadv, libc::SYS_preadv2, libc::SYS_write,
    libc::SYS_writev, libc::SYS_pwrite64, libc::SYS_pwritev, libc::SYS_pwritev2, libc::SYS_lseek,
    libc::SYS_fstat, libc::SYS_newfstatat, libc::SYS_statx, libc::SYS_statfs, libc::SYS_fstatfs,
    libc::SYS_faccessat, libc::SYS_faccessat2, libc::SYS_getdents64, libc::SYS_getcwd,
    libc::SYS_chdir, libc::SYS_fchdir, libc::SYS_readlinkat, libc::SYS_linkat,
    libc::SYS_symlinkat, libc::SYS_unlinkat, libc::SYS_renameat, libc::SYS_renameat2,
    libc::SYS_mkdirat, libc::SYS_mknodat, libc::SYS_fchmod, libc::SYS_fchmodat,
    libc::SYS_fchown, libc::SYS_fchownat, libc::SYS_utimensat, libc::SYS_umask,
    libc::SYS_truncate, libc::SYS_ftruncate, libc::SYS_fallocate, libc::SYS_fadvise64,
    libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_sync_file_range, libc::SYS_flock,
    libc::SYS_fcntl, libc::SYS_dup, libc::SYS_dup3, libc::SYS_pipe2, libc::SYS_sendfile,
    libc::SYS_splice, libc::SYS_tee, libc::SYS_copy_file_range, libc::SYS_getxattr,
    libc::SYS_lgetxattr, libc::SYS_fgetxattr, libc::SYS_listxattr, libc::SYS_llistxattr,
    libc::SYS_flistxattr, libc::SYS_inotify_init1, libc::SYS_inotify_add_watch,
    libc::SYS_inotify_rm_watch,
    // waiting
    libc::SYS_ppoll, libc::SYS_pselect6, libc::SYS_epoll_create1, libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait, libc::SYS_eventfd2,
    // the machine
    libc::SYS_uname, libc::SYS_sysinfo, libc::SYS_getrandom,
];

/// The same calls in the ways that the architecture's library still makes some of them.
#[rustfmt::skip]
#[cfg(target_arch = "x86_64")]
const IN_THE_OLD_WAY: &[i64] = &[
    libc::SYS_fork, libc::SYS_vfork, libc::SYS_getpgrp, libc::SYS_alarm, libc::SYS_pause,
    libc::SYS_time, libc::SYS_open, libc::SYS_creat, libc::SYS_stat, libc::SYS_lstat,
    libc::SYS_access, libc::SYS_readlink, libc::SYS_link, libc::SYS_symlink, libc::SYS_unlink,
    libc::SYS_rename, libc::SYS_mkdir, libc::SYS_rmdir, libc::SYS_mknod, libc::SYS_chmod,
    libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat,
    libc::SYS_getdents, libc::SYS_dup2, libc::SYS_pipe, libc::SYS_poll, libc::SYS_select,
    libc::SYS_epoll_create, libc::SYS_epoll_wait, libc::SYS_eventfd, libc::SYS_signalfd,
    libc::SYS_inotify_init, libc::SYS_arch_prctl,
];
#[cfg(not(target_arch = "x86_64"))]
const IN_THE_OLD_WAY: &[i64] = &[];

/// Namespaces of one's own.
const NAMESPACES: i32 = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// What `ioprio_set` calls a process.
const IOPRIO_WHO_PROCESS: u64 = 1;

/// Restricts the calls of this thread and of what it starts, for good.
pub fn restrict() -> Result<(), Error> {
    // Its arguments are out of a filter's reach: libraries take `clone` then.
    apply([answered(libc::SYS_clone3, libc::ENOSYS), program()])
}

fn program() -> Result<BpfProgram, BackendError> {
    let mut rules = some_arguments()?;
    let freely = [FREELY, IN_THE_OLD_WAY, &[libc::SYS_clone3]].concat();
    rules.extend(freely.into_iter().map(|call| (call, Vec::new())));
    allowing(rules, SeccompAction::Errno(libc::EPERM as u32))
}

/// Calls that are allowed with some arguments only.
fn some_arguments() -> Result<Calls, BackendError> {
    let apart = condition(0, SeccompCmpOp::MaskedEq(NAMESPACES as u32 as u64), 0)?;
    // Those of another process may be those of the one that watches over the script.
    let own = || condition(0, SeccompCmpOp::Eq, 0);
    let of_process = |which: u64| {
        SeccompRule::new(vec![
            condition(0, SeccompCmpOp::Eq, which)?,
            condition(1, SeccompCmpOp::Eq, 0)?,
        ])
    };
    let no_core = |argument| condition(argument, SeccompCmpOp::Ne, libc::RLIMIT_CORE.into());
    let asks = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)?;
    let typed = condition(1, SeccompCmpOp::Ne, libc::TIOCSTI as u32 as u64)?;
    let pasted = condition(1, SeccompCmpOp::Ne, libc::TIOCLINUX as u32 as u64)?;
    let mut rules = Calls::from([
        (libc::SYS_clone, vec![SeccompRule::new(vec![apart])?]),
        (libc::SYS_ioctl, vec![SeccompRule::new(vec![typed, pasted])?]),
        (libc::SYS_setpriority, vec![of_process(libc::PRIO_PROCESS as u64)?]),
        (libc::SYS_ioprio_set, vec![of_process(IOPRIO_WHO_PROCESS)?]),
        (libc::SYS_setrlimit, vec![SeccompRule::new(vec![no_core(0)?])?]),
        (
            libc::SYS_prlimit64,
            vec![
                SeccompRule::new(vec![own()?, no_core(1)?])?,
                SeccompRule::new(vec![own()?, asks])?,
            ],
        ),
    ]);
    for call in [
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setattr,
    ] {
        rules.insert(call, vec![SeccompRule::new(vec![own()?])?]);
    }
    Ok(rules)
}
