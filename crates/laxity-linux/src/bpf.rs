//! Programs and maps of BPF, without a compiler or a library.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Needed to load and attach programs.
pub(crate) const NEEDS: &str = "CAP_BPF and CAP_NET_ADMIN, both outside of user namespaces";

const MAP_CREATE: i64 = 0;
const MAP_UPDATE: i64 = 2;
const PROGRAM_LOAD: i64 = 5;
const LINK_CREATE: i64 = 28;

/// A map of `entries` values of four bytes, each under a number.
pub(crate) fn map(kind: u32, entries: u32) -> io::Result<OwnedFd> {
    let (key, value) = (4, 4);
    make(MAP_CREATE, &[kind, key, value, entries])
}

/// Puts a value into a map.
pub(crate) fn put(map: BorrowedFd<'_>, key: u32, value: u32) -> io::Result<()> {
    let update = Update {
        map: map.as_raw_fd() as u32,
        padding: 0,
        key: std::ptr::from_ref(&key) as u64,
        value: std::ptr::from_ref(&value) as u64,
        flags: 0,
    };
    bpf(MAP_UPDATE, &update).map(drop)
}

#[repr(C)]
struct Update {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// Loads a program of this kind.
pub(crate) fn load(kind: u32, instructions: &[u64]) -> io::Result<OwnedFd> {
    let load = Load {
        kind,
        count: instructions.len() as u32,
        instructions: instructions.as_ptr() as u64,
        licence: c"MIT".as_ptr() as u64,
    };
    make(PROGRAM_LOAD, &load)
}

#[repr(C)]
struct Load {
    kind: u32,
    count: u32,
    instructions: u64,
    licence: u64,
}

/// Attaches a program to an interface, at a place of this kind and with these flags, as long as the
/// descriptor is open.
pub(crate) fn link(
    program: BorrowedFd<'_>,
    interface: u32,
    place: u32,
    flags: u32,
) -> io::Result<OwnedFd> {
    make(LINK_CREATE, &[program.as_raw_fd() as u32, interface, place, flags])
}

/// `struct bpf_insn`.
pub(crate) fn instruction(code: u8, to: u8, from: u8, offset: i16, value: i32) -> u64 {
    let registers = if cfg!(target_endian = "little") { from << 4 | to } else { to << 4 | from };
    let ([o0, o1], [v0, v1, v2, v3]) = (offset.to_ne_bytes(), value.to_ne_bytes());
    u64::from_ne_bytes([code, registers, o0, o1, v0, v1, v2, v3])
}

/// A call that makes a descriptor.
fn make<T>(command: i64, attributes: &T) -> io::Result<OwnedFd> {
    let made = bpf(command, attributes)?;
    // SAFETY: the descriptor was just made and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}

/// `T` is how `union bpf_attr` begins for the command; what is behind that counts as zero.
fn bpf<T>(command: i64, attributes: &T) -> io::Result<i32> {
    let (attributes, size) = (std::ptr::from_ref(attributes), size_of::<T>());
    // SAFETY: the attributes are those of the command, and what they point to lives as long as the
    // call, after which the kernel has its own copy.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, attributes, size) };
    i32::try_from(result).map_err(io::Error::other).and_then(crate::sys::check)
}
