//! A TAP device: an interface whose other end is a descriptor.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use netlink_packet_core::NLM_F_ACK;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    AfSpecInet6, AfSpecUnspec, In6AddrGenMode, LinkAttribute, LinkFlags, LinkMessage,
};

use crate::error::{Doing, Error};
use crate::interface::Interface;
use crate::netlink;
use crate::rtnetlink::Rtnetlink;
use crate::sys::{Plain, done, plain, zeroed};

/// It is gone when its descriptor is closed, however the process ends.
#[derive(Debug)]
pub(super) struct TapDevice {
    file: File,
    interface: Interface,
    /// Asks for its counts.
    asking: Rtnetlink,
}

/// The kernel puts the next free number in.
const NAME: &[u8] = b"laxity%d";

/// How many frames wait in it until they are read.
const QUEUE: u32 = 4096;

#[derive(Clone, Copy)]
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    flags: i16,
    padding: [u8; 22],
}

plain!(Request);

impl TapDevice {
    /// A new one that is up, in the network namespace of the calling thread. It has no address, and
    /// takes frames whose checksums are unfinished or that are still to be cut.
    ///
    /// # Errors
    /// Without `CAP_NET_ADMIN` or `/dev/net/tun`.
    pub(super) fn new() -> Result<Self, Error> {
        TapDevice::open()
            .privileged("make a TAP device", "CAP_NET_ADMIN, and leave to open /dev/net/tun")
    }

    fn open() -> io::Result<Self> {
        let flags = libc::O_NONBLOCK;
        let file =
            File::options().read(true).write(true).custom_flags(flags).open("/dev/net/tun")?;
        let mut request = zeroed::<Request>();
        request.name[..NAME.len()].copy_from_slice(NAME);
        request.flags = (libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as i16;
        control(&file, libc::TUNSETIFF, &mut request)?;
        offload(&file)?;
        let length = request.name.iter().take_while(|byte| **byte != 0).count();
        let name = String::from_utf8_lossy(&request.name[..length]).into_owned();
        let look_up = || Interface::named(&name).map_err(io::Error::other);
        // It says nothing by itself, as far as the system lets it be told so.
        let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
        switch_on(look_up()?.index)?;
        Ok(TapDevice { file, interface: look_up()?, asking: Rtnetlink::bound()? })
    }

    /// Its interface.
    pub(super) fn interface(&self) -> &Interface {
        &self.interface
    }

    /// Reads the next frame that is sent at the interface, behind what is undone of it; returns its
    /// length with that.
    pub(super) fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        (&self.file).read(into)
    }

    /// Has a frame arrive at the interface, behind what is undone of it.
    pub(super) fn write(&self, frame: &[u8]) -> io::Result<()> {
        (&self.file).write(frame).map(drop)
    }

    /// How many frames found no room since it was made.
    pub(super) fn missed(&mut self) -> io::Result<u64> {
        let mut message = LinkMessage::default();
        message.header.index = self.interface.index;
        let (kind, payload) = netlink::written(&RouteNetlinkMessage::GetLink(message));
        let message = crate::rtnetlink::Message { kind, flags: NLM_F_ACK, payload: &payload };
        let found = self.asking.dumped(&message, |kind, payload| {
            let RouteNetlinkMessage::NewLink(link) = netlink::read(kind, payload)? else {
                return None;
            };
            link.attributes.iter().find_map(|attribute| match attribute {
                LinkAttribute::Stats64(counts) => Some(counts.tx_dropped),
                _ => None,
            })
        })?;
        Ok(found.first().copied().unwrap_or_default())
    }
}

impl AsFd for TapDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Has the kernel leave checksums and cutting to the reader; UDP is cut before on kernels that
/// cannot leave that (before 6.2).
fn offload(file: &File) -> io::Result<()> {
    let tcp = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
    let udp = libc::TUN_F_USO4 | libc::TUN_F_USO6;
    let set = |offloads: u32| {
        // SAFETY: this operation takes an integer.
        done(unsafe {
            libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD, offloads as libc::c_ulong)
        })
    };
    set(tcp | udp).or_else(|_| set(tcp))
}

fn switch_on(index: u32) -> io::Result<()> {
    let change = |attribute, flags| {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.header.change_mask = flags;
        message.header.flags = flags;
        message.attributes.push(attribute);
        netlink::change(&RouteNetlinkMessage::SetLink(message), 0)
    };
    // And it has no address. Without IPv6 it has none anyway.
    let silent = vec![AfSpecInet6::AddrGenMode(In6AddrGenMode::None)];
    let silent = LinkAttribute::AfSpecUnspec(vec![AfSpecUnspec::Inet6(silent)]);
    let _ = change(silent, LinkFlags::empty());
    change(LinkAttribute::TxQueueLen(QUEUE), LinkFlags::Up)
}

fn control<T: Plain>(file: &File, operation: libc::Ioctl, argument: &mut T) -> io::Result<()> {
    // SAFETY: the operation reads and writes a `T`, which lives as long as the call.
    done(unsafe { libc::ioctl(file.as_raw_fd(), operation, std::ptr::from_mut(argument)) })
}
