//! Frames of an interface, spread over several sockets by the flows that they belong to.

use std::io;
use std::os::fd::BorrowedFd;

use super::filter::{self, Passing};
use crate::sys::{get_option, set_option};

/// Spreads what arrives at an interface over sockets that are bound there and were given nothing so
/// far. All frames of a flow go to one of them, and so do those of its other direction.
pub(super) fn spread(sockets: &[BorrowedFd<'_>]) -> io::Result<()> {
    let Some((first, others)) = sockets.split_first() else { return Ok(()) };
    join(*first, 0, libc::PACKET_FANOUT_FLAG_UNIQUEID)?;
    let group = get_option::<i32>(*first, libc::SOL_PACKET, libc::PACKET_FANOUT)? & 0xffff;
    others.iter().try_for_each(|socket| join(*socket, group, 0))?;
    // A kernel before 5.16 spreads what is sent at the interface, too.
    sockets.iter().try_for_each(|socket| filter::only(*socket, Passing::NotSent))
}

/// Joins the group of this number, which says by its flags how frames are spread.
fn join(socket: BorrowedFd<'_>, group: i32, more: u32) -> io::Result<()> {
    let how = libc::PACKET_FANOUT_HASH | libc::PACKET_FANOUT_FLAG_IGNORE_OUTGOING | more;
    let group = group | (how << 16) as i32;
    set_option(socket, libc::SOL_PACKET, libc::PACKET_FANOUT, &group)
}
