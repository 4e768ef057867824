//! The system calls that stay allowed.

use seccompiler::{BackendError, BpfProgram, SeccompAction, SeccompCmpOp, SeccompRule};

use crate::error::Error;
use crate::seccomp::{Calls, allowing, answered, apply, condition};

/// With any arguments. None of them opens, starts or becomes anything.
const FREELY: &[i64] = &[
    // frames
    libc::SYS_recvmmsg,
    libc::SYS_sendmmsg,
    libc::SYS_recvmsg,
    libc::SYS_sendmsg,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    libc::SYS_getsockopt,
    libc::SYS_ppoll,
    libc::SYS_bind,
    // time
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    // memory
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    // what is open
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_close,
    libc::SYS_shutdown,
    // threads and signals
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Where Landlock says which files may be opened.
const OPENING: &[i64] = &[
    libc::SYS_openat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_getdents64,
    libc::SYS_ftruncate,
    libc::SYS_fsync,
    libc::SYS_mkdirat,
    libc::SYS_renameat2,
    libc::SYS_unlinkat,
];

/// What a server waits and accepts with.
pub(super) const SERVING: &[i64] = &[
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    libc::SYS_accept4,
];

/// Where Landlock says which files may be made.
pub(super) const LINKING: &[i64] = &[
    libc::SYS_linkat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
];

/// Where Landlock says which files may be removed.
pub(super) const REMOVING: &[i64] = &[
    libc::SYS_unlinkat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
];

/// As the architecture's library still calls some of these.
#[cfg(target_arch = "x86_64")]
const OPENING_IN_THE_OLD_WAY: &[i64] = &[
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_mkdir,
    libc::SYS_rename,
    libc::SYS_unlink,
];
#[cfg(not(target_arch = "x86_64"))]
const OPENING_IN_THE_OLD_WAY: &[i64] = &[];

/// Kills the process at any call that is not allowed, but for those that are refused.
pub(super) fn restrict(more: &[i64], opens: bool) -> Result<(), Error> {
    // As if the kernel had no `clone3`, whose arguments are out of a filter's reach: libraries then
    // start threads with `clone`.
    let mut programs = vec![answered(libc::SYS_clone3, libc::ENOSYS)];
    if !opens {
        // Libraries open files by themselves and go on without: glibc, when a thread gives memory
        // back.
        programs.push(answered(libc::SYS_openat, libc::EACCES));
    }
    // Last, for it allows no more of them.
    programs.push(program(more, opens));
    apply(programs)
}

fn program(more: &[i64], opens: bool) -> Result<BpfProgram, BackendError> {
    let mut rules = some_arguments()?;
    let opening = if opens { [OPENING, OPENING_IN_THE_OLD_WAY].concat() } else { Vec::new() };
    let freely = [FREELY, more, &opening, &[libc::SYS_clone3, libc::SYS_openat]].concat();
    rules.extend(freely.into_iter().map(|call| (call, Vec::new())));
    allowing(rules, SeccompAction::KillProcess)
}

/// Calls that are allowed with some arguments only.
fn some_arguments() -> Result<Calls, BackendError> {
    let equal = |argument, value: i32| one(argument, SeccompCmpOp::Eq, value as u64);
    let never = |argument, bits: i32| one(argument, SeccompCmpOp::MaskedEq(bits as u64), 0);
    let any_of = |argument, values: &[i32]| -> Result<Vec<SeccompRule>, _> {
        values.iter().map(|value| equal(argument, *value)).collect()
    };
    // Threads, not processes.
    let thread = libc::CLONE_THREAD | libc::CLONE_VM;
    let threads = one(0, SeccompCmpOp::MaskedEq(thread as u64), thread as u64)?;
    let buffer = SeccompRule::new(vec![
        condition(1, SeccompCmpOp::Eq, libc::SOL_SOCKET as u64)?,
        condition(2, SeccompCmpOp::Eq, libc::SO_SNDBUF as u64)?,
    ])?;
    Ok(Calls::from([
        // Memory that is to be executed is not asked for.
        (libc::SYS_mmap, vec![never(2, libc::PROT_EXEC)?]),
        (libc::SYS_mprotect, vec![never(2, libc::PROT_EXEC)?]),
        // To go on with an interface that has come back, or with a link of another rate.
        (libc::SYS_setsockopt, [any_of(1, &[libc::SOL_PACKET])?, vec![buffer]].concat()),
        (libc::SYS_fcntl, any_of(1, &[libc::F_GETFD, libc::F_GETFL, libc::F_SETFL])?),
        (libc::SYS_clone, vec![threads]),
        (libc::SYS_prctl, any_of(0, &[libc::PR_SET_NAME, libc::PR_SET_TIMERSLACK])?),
    ]))
}

fn one(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![condition(argument, operator, value)?])
}
