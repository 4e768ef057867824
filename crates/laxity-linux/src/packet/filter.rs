//! Which frames a socket is given, by a program of classic BPF.

use std::io;
use std::os::fd::BorrowedFd;

use crate::sys::{plain, set_option};

plain!(libc::sock_fprog);

/// Which frames pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passing {
    /// None.
    None,
    /// Those that are sent there.
    Sent,
    /// All others.
    NotSent,
}

/// Gives a socket these frames alone from now on.
pub(super) fn only(socket: BorrowedFd<'_>, passing: Passing) -> io::Result<()> {
    const LOAD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const KIND_OF_PACKET: u32 = (libc::SKF_AD_OFF + libc::SKF_AD_PKTTYPE) as u32;
    const WHOLE: u32 = u32::MAX;
    let (sent, others) = match passing {
        Passing::None => (0, 0),
        Passing::Sent => (WHOLE, 0),
        Passing::NotSent => (0, WHOLE),
    };
    let step = |code, jf, k| libc::sock_filter { code, jt: 0, jf, k };
    let mut steps = [
        step(LOAD, 0, KIND_OF_PACKET),
        step(JUMP_IF_EQUAL, 1, libc::PACKET_OUTGOING.into()),
        step(RETURN, 0, sent),
        step(RETURN, 0, others),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    set_option(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
}
