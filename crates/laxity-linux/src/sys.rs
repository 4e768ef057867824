//! The few calls that everything else is made of.

use std::ffi::c_int;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

/// Plain data of the kernel's interface.
///
/// # Safety
/// Every pattern of bits, all zeros among them, is a value of the type.
pub(crate) unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($kind:ty),* $(,)?) => {
        // SAFETY: integers and structs of integers have no invalid pattern.
        $(unsafe impl $crate::sys::Plain for $kind {})*
    };
}
pub(crate) use plain;

plain!(i32, u32, u64, libc::tpacket_stats, libc::xdp_statistics, libc::xdp_mmap_offsets);

/// What a call that says -1 and sets `errno` says.
pub(crate) fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The same for calls whose result says nothing else.
pub(crate) fn done(result: c_int) -> io::Result<()> {
    check(result).map(drop)
}

/// The same for calls that count bytes.
pub(crate) fn check_size(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

pub(crate) fn socket(domain: c_int, kind: c_int, protocol: c_int) -> io::Result<OwnedFd> {
    // SAFETY: takes integers only.
    let fd = check(unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol) })?;
    // SAFETY: the descriptor was just made and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

pub(crate) fn set_option<T: Plain>(
    socket: BorrowedFd<'_>,
    level: c_int,
    name: c_int,
    value: &T,
) -> io::Result<()> {
    let size = size_of::<T>() as libc::socklen_t;
    let value = std::ptr::from_ref(value).cast();
    // SAFETY: `value` points to `size` bytes that live as long as the call.
    done(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value, size) })
}

/// The number of a socket that no other gets until the machine starts anew.
pub(crate) fn cookie(socket: BorrowedFd<'_>) -> io::Result<u64> {
    get_option(socket, libc::SOL_SOCKET, libc::SO_COOKIE)
}

pub(crate) fn get_option<T: Plain>(
    socket: BorrowedFd<'_>,
    level: c_int,
    name: c_int,
) -> io::Result<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut size = size_of::<T>() as libc::socklen_t;
    let into = value.as_mut_ptr().cast();
    // SAFETY: `into` has room for `size` bytes, and `size` itself lives as long as the call.
    check(unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, into, &mut size) })?;
    // SAFETY: zeros and what the kernel wrote over them are a value of any `Plain` type.
    Ok(unsafe { value.assume_init() })
}

/// Has the process take no notice of these signals.
pub(crate) fn ignore(signals: &[c_int]) -> io::Result<()> {
    signals.iter().try_for_each(|signal| {
        // SAFETY: no handler is given.
        let before = unsafe { libc::signal(*signal, libc::SIG_IGN) };
        if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
    })
}

/// All zeros.
pub(crate) fn zeroed<T: Plain>() -> T {
    // SAFETY: zeros are a value of any `Plain` type.
    unsafe { std::mem::zeroed() }
}

/// A number that nobody can guess.
pub(crate) fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

/// Binds a socket to an address of its family.
pub(crate) fn bind<T: Plain>(socket: BorrowedFd<'_>, address: &T) -> io::Result<()> {
    let size = size_of::<T>() as libc::socklen_t;
    let address = std::ptr::from_ref(address).cast();
    // SAFETY: `address` points to `size` bytes that live as long as the call.
    done(unsafe { libc::bind(socket.as_raw_fd(), address, size) })
}

/// Pages of memory, given back when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: a mapping is memory of the process, which any thread may use and give back.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Zeroed memory of the process's own, which takes room only where it is touched.
    pub(crate) fn memory(length: usize) -> io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        Self::map(length, flags, -1, 0)
    }

    /// Memory shared with the kernel through a socket.
    pub(crate) fn shared(socket: BorrowedFd<'_>, length: usize, offset: i64) -> io::Result<Self> {
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        Self::map(length, flags, socket.as_raw_fd(), offset)
    }

    fn map(length: usize, flags: c_int, fd: c_int, offset: i64) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel chooses a place where nothing else is.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, fd, offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapping { start, length })
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Where `length` bytes from `offset` on begin.
    ///
    /// # Panics
    /// If they do not lie within the mapping.
    pub(crate) fn at(&self, offset: usize, length: usize) -> *mut u8 {
        let end = offset.checked_add(length);
        assert!(end.is_some_and(|end| end <= self.length), "outside of the mapping");
        // SAFETY: the offset lies within the mapping, as was asserted.
        unsafe { self.start.as_ptr().add(offset) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: these pages were mapped by `map`, and nothing that borrows them outlives `self`.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// What a call says, or this where it fails in a way that passes.
pub(crate) fn unless_lost<T>(said: io::Result<T>, otherwise: T) -> io::Result<T> {
    match said {
        Err(error) if !is_lost(&error) => Ok(otherwise),
        said => said,
    }
}

/// Whether a socket cannot be used any more. Every other error is one of a frame, or passes.
pub(crate) fn is_lost(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EBADF | libc::EFAULT | libc::ENOTSOCK) | None)
}
