//! The program that takes frames to the sockets, put together by hand.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::error::{Doing, Error};
use crate::interface::Interface;

const MAP_CREATE: i64 = 0;
const MAP_UPDATE: i64 = 2;
const PROGRAM_LOAD: i64 = 5;
const LINK_CREATE: i64 = 28;

/// `BPF_MAP_TYPE_XSKMAP`.
const SOCKETS: u32 = 17;
/// `BPF_PROG_TYPE_XDP`, and where such programs are attached, `BPF_XDP`.
const XDP: u32 = 6;
const AT_XDP: u32 = 37;

/// `XDP_FLAGS_SKB_MODE` and `XDP_FLAGS_DRV_MODE`.
const GENERIC: u32 = 1 << 1;
const DRIVER: u32 = 1 << 2;

const NEEDS: &str = "CAP_BPF and CAP_NET_ADMIN, both outside of user namespaces";

/// Attaches a program that takes every frame to the socket of its queue. It is detached when the
/// descriptor is closed.
pub(super) fn attach<'a>(
    interface: &Interface,
    sockets: impl Iterator<Item = BorrowedFd<'a>>,
    native: bool,
) -> Result<OwnedFd, Error> {
    let name = &interface.name;
    let map = map(interface.receive_queues);
    let map = map.privileged(format!("make a map of sockets for {name}"), NEEDS)?;
    for (queue, socket) in (0..).zip(sockets) {
        let put = put(map.as_fd(), queue, socket);
        put.doing(format!("put the socket of queue {queue} of {name} into its map"))?;
    }
    let program = load(map.as_fd());
    let program = program.privileged(format!("load an XDP program for {name}"), NEEDS)?;
    let mode = if native { DRIVER } else { GENERIC };
    let link = [program.as_raw_fd() as u32, interface.index, AT_XDP, mode];
    let linked = make(LINK_CREATE, &link);
    linked.privileged(format!("attach an XDP program to {name}"), NEEDS).map_err(
        |error| match error.cause().raw_os_error() {
            Some(libc::EBUSY | libc::EEXIST) => error.with_hint("it has one already"),
            Some(libc::EOPNOTSUPP | libc::EINVAL) if native => {
                error.with_hint("its driver may not be able to, or not with this MTU")
            }
            _ => error,
        },
    )
}

/// A map from queues to sockets.
fn map(queues: u32) -> io::Result<OwnedFd> {
    let (key, value) = (4, 4);
    make(MAP_CREATE, &[SOCKETS, key, value, queues])
}

#[repr(C)]
struct Update {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

fn put(map: BorrowedFd<'_>, queue: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
    let value = socket.as_raw_fd() as u32;
    let update = Update {
        map: map.as_raw_fd() as u32,
        padding: 0,
        key: std::ptr::from_ref(&queue) as u64,
        value: std::ptr::from_ref(&value) as u64,
        flags: 0,
    };
    bpf(MAP_UPDATE, &update).map(|_| ())
}

#[repr(C)]
struct Load {
    kind: u32,
    count: u32,
    instructions: u64,
    licence: u64,
}

fn load(map: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let instructions = redirect(map.as_raw_fd());
    let load = Load {
        kind: XDP,
        count: instructions.len() as u32,
        instructions: instructions.as_ptr() as u64,
        licence: c"MIT".as_ptr() as u64,
    };
    make(PROGRAM_LOAD, &load)
}

/// `return bpf_redirect_map(map, context->rx_queue_index, XDP_PASS)`: a frame of a queue that has
/// no socket goes on to the host.
fn redirect(map: i32) -> [u64; 6] {
    const QUEUE: i16 = 16;
    const PASS: i32 = 2;
    const REDIRECT_MAP: i32 = 51;
    const MAP_DESCRIPTOR: u8 = 1;
    [
        instruction(0x61, 2, 1, QUEUE, 0), // r2 = *(u32 *)(r1 + 16)
        instruction(0x18, 1, MAP_DESCRIPTOR, 0, map), // r1 = map, in two
        0,
        instruction(0xb7, 3, 0, 0, PASS),         // r3 = XDP_PASS
        instruction(0x85, 0, 0, 0, REDIRECT_MAP), // call
        instruction(0x95, 0, 0, 0, 0),            // exit
    ]
}

/// `struct bpf_insn`.
fn instruction(code: u8, to: u8, from: u8, offset: i16, value: i32) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn instructions_are_those_that_a_compiler_makes() {
        // As the instruction set of BPF (RFC 9669) has them, with descriptor 7.
        let compiled: [[u8; 8]; 6] = [
            [0x61, 0x12, 0x10, 0x00, 0, 0, 0, 0],
            [0x18, 0x11, 0x00, 0x00, 7, 0, 0, 0],
            [0x00, 0x00, 0x00, 0x00, 0, 0, 0, 0],
            [0xb7, 0x03, 0x00, 0x00, 2, 0, 0, 0],
            [0x85, 0x00, 0x00, 0x00, 51, 0, 0, 0],
            [0x95, 0x00, 0x00, 0x00, 0, 0, 0, 0],
        ];
        assert_eq!(redirect(7).map(u64::to_le_bytes), compiled);
    }
}
