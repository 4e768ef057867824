//! `AF_PACKET` sockets.

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::Options;
use super::filter::{self, Passing};
use crate::error::{Doing, Error};
use crate::frames::VnetHeader;
use crate::interface::Interface;
use crate::sys::{self, get_option, plain, set_option};

/// Where a frame begins in its place: room for what is undone, and for a VLAN tag behind that.
pub(super) const HEADROOM: usize = 16;

/// The length of a tag.
pub(super) const TAG: usize = 4;

/// What a place takes: a packet of 64 kB with its headers. A whole number of pages, and an odd one,
/// so that beginnings of frames spread over the caches.
pub(crate) const PLACE: usize = 17 * 4096;

const _: () =
    assert!(HEADROOM >= VnetHeader::SIZE + TAG && PLACE > HEADROOM + 65_535 + 14 + 2 * TAG);

plain!(libc::sockaddr_ll, libc::packet_mreq);

/// A socket that takes in what arrives at the interface. It is bound last, when it is set up, so
/// `prepare` can do what must come before frames do.
pub(super) fn receiving(
    interface: &Interface,
    options: &Options,
    prepare: impl FnOnce(BorrowedFd<'_>) -> io::Result<()>,
) -> Result<OwnedFd, Error> {
    let name = &interface.name;
    let opened = sys::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_NONBLOCK, 0);
    let socket = opened.privileged(format!("open a packet socket for {name}"), "CAP_NET_RAW")?;
    let set_up = || {
        let fd = socket.as_fd();
        packet_option(fd, libc::PACKET_VNET_HDR, 1)?;
        packet_option(fd, libc::PACKET_AUXDATA, 1)?;
        packet_option(fd, libc::PACKET_IGNORE_OUTGOING, 1)?;
        if options.stamps {
            // Not `SO_TIMESTAMPNS`, which makes up the stamps of frames that the kernel left
            // without one: the time at which they are taken in, however late that is.
            let software = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
            set_option(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &software)?;
        }
        let size = options.receive_buffer as c_int;
        set_option(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &size)
            .or_else(|_| set_option(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, &size))?;
        prepare(fd)?;
        if options.spread {
            filter::only(fd, Passing::None)?;
        }
        if options.promiscuous {
            promiscuous(fd, interface.index)?;
        }
        bind(fd, interface.index, libc::ETH_P_ALL)
    };
    set_up().doing(format!("receive from {name}"))?;
    Ok(socket)
}

/// A socket that sends at the interface and receives nothing.
pub(super) fn sending(interface: &Interface, bypass_qdisc: bool) -> Result<OwnedFd, Error> {
    let name = &interface.name;
    let opened = sys::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_NONBLOCK, 0);
    let socket = opened.privileged(format!("open a packet socket for {name}"), "CAP_NET_RAW")?;
    let set_up = || {
        packet_option(socket.as_fd(), libc::PACKET_VNET_HDR, 1)?;
        packet_option(socket.as_fd(), libc::PACKET_QDISC_BYPASS, bypass_qdisc.into())?;
        bind(socket.as_fd(), interface.index, 0)
    };
    set_up().doing(format!("send at {name}"))?;
    Ok(socket)
}

/// Lets the kernel keep about this many bytes of frames that are to be sent. It allows no more than
/// the system's `wmem_max`.
pub(crate) fn limit_send_buffer(socket: BorrowedFd<'_>, bytes: u32) -> io::Result<()> {
    // The kernel doubles what it is given.
    set_option(socket, libc::SOL_SOCKET, libc::SO_SNDBUF, &((bytes / 2) as c_int))
}

/// Binds to an interface: a socket that was bound before goes on there.
pub(super) fn bind(socket: BorrowedFd<'_>, index: u32, protocol: c_int) -> io::Result<()> {
    sys::bind(socket, &address(index, protocol))
}

/// An interface, and a protocol by its EtherType.
pub(super) fn address(index: u32, protocol: c_int) -> libc::sockaddr_ll {
    let mut address = sys::zeroed::<libc::sockaddr_ll>();
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (protocol as u16).to_be();
    address.sll_ifindex = index as i32;
    address
}

/// Takes in frames to any address as long as the socket is open.
pub(super) fn promiscuous(socket: BorrowedFd<'_>, index: u32) -> io::Result<()> {
    let mut request = sys::zeroed::<libc::packet_mreq>();
    request.mr_ifindex = index as i32;
    request.mr_type = libc::PACKET_MR_PROMISC as u16;
    set_option(socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &request)
}

/// Frames that the kernel had no room for since the last call.
pub(super) fn missed(socket: BorrowedFd<'_>) -> io::Result<u64> {
    let statistics = get_option(socket, libc::SOL_PACKET, libc::PACKET_STATISTICS);
    // A count that is lost now comes with the next call.
    let statistics: libc::tpacket_stats = sys::unless_lost(statistics, sys::zeroed())?;
    Ok(statistics.tp_drops.into())
}

pub(super) fn packet_option(socket: BorrowedFd<'_>, name: c_int, value: i32) -> io::Result<()> {
    set_option(socket, libc::SOL_PACKET, name, &value)
}

/// Whether an interface is down or gone: the interface's own changes say so.
pub(super) fn is_down(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV))
}
