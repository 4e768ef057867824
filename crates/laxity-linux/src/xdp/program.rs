//! The program that takes frames to the sockets, put together by hand.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use crate::bpf::{self, NEEDS, instruction};
use crate::error::{Doing, Error};
use crate::interface::Interface;

/// `BPF_MAP_TYPE_XSKMAP`.
const SOCKETS: u32 = 17;
/// `BPF_PROG_TYPE_XDP`, and where such programs are attached, `BPF_XDP`.
const XDP: u32 = 6;
const AT_XDP: u32 = 37;

/// `XDP_FLAGS_SKB_MODE` and `XDP_FLAGS_DRV_MODE`.
const GENERIC: u32 = 1 << 1;
const DRIVER: u32 = 1 << 2;

/// Attaches a program that takes every frame to the socket of its queue. It is detached when the
/// descriptor is closed.
pub(super) fn attach<'a>(
    interface: &Interface,
    sockets: impl Iterator<Item = BorrowedFd<'a>>,
    native: bool,
) -> Result<OwnedFd, Error> {
    let name = &interface.name;
    let map = bpf::map(SOCKETS, interface.receive_queues);
    let map = map.privileged(format!("make a map of sockets for {name}"), NEEDS)?;
    for (queue, socket) in (0..).zip(sockets) {
        let put = bpf::put(map.as_fd(), queue, socket.as_raw_fd() as u32);
        put.doing(format!("put the socket of queue {queue} of {name} into its map"))?;
    }
    // Before Linux 5.8 programs under other licences than the kernel's do not learn the time.
    let program = bpf::load(XDP, &stamp_and_redirect(map.as_raw_fd()))
        .or_else(|_| bpf::load(XDP, &redirect(map.as_raw_fd())));
    let program = program.privileged(format!("load an XDP program for {name}"), NEEDS)?;
    let mode = if native { DRIVER } else { GENERIC };
    let linked = bpf::link(program.as_fd(), interface.index, AT_XDP, mode);
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

/// Where the stamp of a frame is: right before it, on `CLOCK_MONOTONIC`.
pub(super) const STAMP: usize = size_of::<u64>();

/// Puts `bpf_ktime_get_ns()` before the frame, where there is room, and redirects it.
fn stamp_and_redirect(map: i32) -> Vec<u64> {
    const DATA: i16 = 0;
    const BEFORE_DATA: i16 = 8;
    const ADJUST_META: i32 = 54;
    const TIME: i32 = 5;
    let stamp = [
        instruction(0xbf, 6, 1, 0, 0),               // r6 = r1
        instruction(0xb7, 2, 0, 0, -(STAMP as i32)), // r2 = -8
        instruction(0x85, 0, 0, 0, ADJUST_META),     // call
        instruction(0x55, 0, 0, 7, 0),               // if r0 != 0 goto the end
        instruction(0x85, 0, 0, 0, TIME),            // call
        instruction(0x61, 2, 6, BEFORE_DATA, 0),     // r2 = *(u32 *)(r6 + 8)
        instruction(0x61, 3, 6, DATA, 0),            // r3 = *(u32 *)(r6 + 0)
        instruction(0xbf, 1, 2, 0, 0),               // r1 = r2
        instruction(0x07, 1, 0, 0, STAMP as i32),    // r1 += 8
        instruction(0x2d, 1, 3, 1, 0),               // if r1 > r3 goto the end
        instruction(0x7b, 2, 0, 0, 0),               // *(u64 *)r2 = r0
        instruction(0xbf, 1, 6, 0, 0),               // the end: r1 = r6
    ];
    [&stamp[..], &redirect(map)].concat()
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
