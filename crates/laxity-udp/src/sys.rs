//! Calls of sockets.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

use laxity::units::Nanos;
use socket2::SockAddr;

use crate::control::Control;

/// A message to send: one datagram, or several that the kernel cuts out of it.
pub(crate) struct Message<'a> {
    pub to: SockAddr,
    pub slices: &'a [IoSlice<'a>],
    pub control: Control,
}

/// Sends messages without waiting. Returns how many the kernel has taken, at least one.
///
/// # Errors
/// If the first one is not taken: then none is.
pub(crate) fn send(socket: BorrowedFd<'_>, messages: &[Message<'_>]) -> io::Result<usize> {
    let mut headers: Vec<libc::mmsghdr> = messages.iter().map(header).collect();
    let (first, count) = (headers.as_mut_ptr(), headers.len() as u32);
    // SAFETY: there are `count` headers, and all that they point to is borrowed from `messages`,
    // which outlive the call. The kernel only reads through them, but for the counts of bytes in
    // the headers themselves.
    let sent = unsafe { libc::sendmmsg(socket.as_raw_fd(), first, count, libc::MSG_DONTWAIT) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Points to what the message borrows, and is good for as long.
fn header(message: &Message<'_>) -> libc::mmsghdr {
    // SAFETY: zeros are a header of nothing; on some systems it has padding.
    let mut header: libc::mmsghdr = unsafe { std::mem::zeroed() };
    let inner = &mut header.msg_hdr;
    inner.msg_name = message.to.as_ptr().cast_mut().cast();
    inner.msg_namelen = message.to.len();
    // A slice of `IoSlice` has the layout of an array of `iovec`.
    inner.msg_iov = message.slices.as_ptr().cast_mut().cast();
    inner.msg_iovlen = message.slices.len() as _;
    let control = message.control.bytes();
    if !control.is_empty() {
        inner.msg_control = control.as_ptr().cast_mut().cast();
        inner.msg_controllen = control.len() as _;
    }
    header
}

/// Waits until the socket takes more, for at most this long; returns whether it does.
pub(crate) fn wait_for_room(socket: BorrowedFd<'_>, limit: Nanos) -> bool {
    let mut waits = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    let limit = timespec(limit);
    // SAFETY: takes one entry and a time, which live as long as the call, and no mask of signals.
    let ready = unsafe { libc::ppoll(&mut waits, 1, &limit, std::ptr::null()) };
    ready > 0
}

/// Takes a message from the socket's queue of errors, without its payload: the control messages go
/// into `into`. Returns their length.
///
/// # Errors
/// If there is none.
pub(crate) fn receive_error(socket: BorrowedFd<'_>, into: &mut [u64]) -> io::Result<usize> {
    // SAFETY: zeros are a header of nothing.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_control = into.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(into) as _;
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    // SAFETY: the header has room for no address and no bytes, and for as many bytes of control
    // messages as `into` has, which is borrowed for as long as the call.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &mut header, flags) };
    usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
    Ok((header.msg_controllen as usize).min(size_of_val(into)))
}

/// Sets an option, whose value is plain numbers.
pub(crate) fn set_option<const N: usize>(
    socket: BorrowedFd<'_>,
    level: i32,
    name: i32,
    value: [u32; N],
) -> io::Result<()> {
    let (bytes, length) = (value.as_ptr().cast(), size_of_val(&value) as libc::socklen_t);
    // SAFETY: `bytes` points to `length` bytes, which live as long as the call.
    match unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, bytes, length) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Has the kernel wake this thread as close to the time as it can, not up to 50 µs later.
pub(crate) fn wake_on_time() {
    // SAFETY: takes integers only; where the kernel refuses it, the thread is woken later.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

/// The time on one of the system's clocks.
pub(crate) fn now(clock: libc::clockid_t) -> Nanos {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: `time` has room for what is written to it. The clocks used here are in every kernel
    // that has the rest, and for others zeros stay.
    let time = unsafe {
        libc::clock_gettime(clock, time.as_mut_ptr());
        time.assume_init()
    };
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

fn timespec(duration: Nanos) -> libc::timespec {
    // SAFETY: zeros are a time; on some systems it has padding.
    let mut time: libc::timespec = unsafe { std::mem::zeroed() };
    time.tv_sec = (duration.0 / 1_000_000_000) as _;
    time.tv_nsec = (duration.0 % 1_000_000_000) as _;
    time
}
