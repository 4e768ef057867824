//! Network namespaces with interfaces of their own: laboratories for tests and demonstrations.
//!
//! A namespace has no name and is held by a descriptor: when the last [`Namespace`] goes, and all
//! sockets in it, so do the interfaces that are in it. Nothing is left behind, however a process
//! ends.

mod routes;

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use caps::Capability;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkInfo, LinkMessage,
};

use crate::error::{Doing, Error};
use crate::interface::Interface;
use crate::netlink;
use crate::sandbox::has_capability;
use crate::sys::{self, check, done};

/// A network namespace. Those are equal that are the same, however they were opened.
#[derive(Clone, Debug)]
pub struct Namespace {
    descriptor: Arc<OwnedFd>,
    inode: u64,
}

impl PartialEq for Namespace {
    fn eq(&self, other: &Namespace) -> bool {
        self.inode == other.inode
    }
}

impl Eq for Namespace {}

/// The number of the network namespace that the calling thread is in, which no other one gets until
/// the machine starts anew; that of its file in `/proc` may be used again.
///
/// # Errors
/// On kernels before 5.14, which do not tell.
pub fn cookie() -> io::Result<u64> {
    const SO_NETNS_COOKIE: i32 = 71;
    let socket = sys::socket(libc::AF_UNIX, libc::SOCK_DGRAM, 0)?;
    sys::get_option(socket.as_fd(), libc::SOL_SOCKET, SO_NETNS_COOKIE)
}

impl Namespace {
    /// A new one, in which there is nothing but a loopback interface that is up.
    ///
    /// # Errors
    /// Without `CAP_SYS_ADMIN`, which anyone has within `unshare -Urn` if the system allows that.
    pub fn new() -> Result<Self, Error> {
        let made = apart(|| {
            // SAFETY: only this thread, which ends soon, is taken out of its namespace.
            check(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
            current()
        });
        let namespace = made.privileged("make a network namespace", "CAP_SYS_ADMIN")?;
        namespace.run(|| Interface::switch(Interface::named("lo")?.index, true))??;
        Ok(namespace)
    }

    /// The namespace of the calling thread.
    pub fn current() -> Result<Self, Error> {
        current().doing("open this thread's network namespace")
    }

    /// One that has been given a name, as by `ip netns add`; or that a path stands for, such as
    /// `/proc/4711/ns/net`.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(name: &str) -> Result<Self, Error> {
        // What is joined takes the place of the folder if it is a whole path.
        let opened = Namespace::open(&Path::new("/run/netns").join(name));
        opened.doing(format!("open the network namespace {name}"))
    }

    /// Takes the calling thread there, for good.
    ///
    /// # Errors
    /// Without `CAP_SYS_ADMIN`.
    pub fn enter(&self) -> Result<(), Error> {
        self.set().privileged("enter a network namespace", "CAP_SYS_ADMIN")
    }

    /// Runs something there, in a thread of its own. Sockets that it opens stay there.
    ///
    /// # Errors
    /// Without `CAP_SYS_ADMIN`.
    pub fn run<T: Send>(&self, something: impl FnOnce() -> T + Send) -> Result<T, Error> {
        let ran = apart(|| self.set().map(|()| something()));
        ran.privileged("enter a network namespace", "CAP_SYS_ADMIN")
    }

    /// Makes a cable: an interface in this namespace and one in the other, both up. What is sent at
    /// one end arrives at the other.
    pub fn veth(&self, name: &str, other: &Namespace, other_name: &str) -> Result<(), Error> {
        let other_end = other.descriptor.as_raw_fd();
        let mut peer = LinkMessage::default();
        peer.attributes.push(LinkAttribute::IfName(other_name.into()));
        peer.attributes.push(LinkAttribute::NetNsFd(other_end));
        let data = InfoData::Veth(InfoVeth::Peer(peer));
        self.add(name, vec![LinkInfo::Kind(InfoKind::Veth), LinkInfo::Data(data)])?;
        other.switch(other_name, true)?;
        self.switch(name, true)
    }

    /// Makes a bridge of the kernel's, up, with these interfaces as its ports.
    pub fn bridge(&self, name: &str, ports: &[&str]) -> Result<(), Error> {
        self.add(name, vec![LinkInfo::Kind(InfoKind::Bridge)])?;
        self.switch(name, true)?;
        let bridge = self.run(|| Interface::named(name))??.index;
        ports.iter().try_for_each(|port| {
            self.change(port, |link| link.attributes.push(LinkAttribute::Controller(bridge)))
        })
    }

    /// Gives an interface an address, such as `10.0.0.1` with a prefix of 24 bits.
    pub fn address(&self, name: &str, address: std::net::IpAddr, prefix: u8) -> Result<(), Error> {
        let index = self.run(|| Interface::named(name))??.index;
        let mut message = AddressMessage::default();
        message.header.index = index;
        message.header.prefix_len = prefix;
        message.header.family = match address {
            std::net::IpAddr::V4(_) => netlink_packet_route::AddressFamily::Inet,
            std::net::IpAddr::V6(_) => netlink_packet_route::AddressFamily::Inet6,
        };
        message.attributes.push(AddressAttribute::Local(address));
        message.attributes.push(AddressAttribute::Address(address));
        let message = RouteNetlinkMessage::NewAddress(message);
        let asked = self.run(|| netlink::change(&message, NLM_F_CREATE | NLM_F_EXCL))?;
        asked.doing(format!("give {name} the address {address}/{prefix}"))
    }

    /// Sets the MTU of an interface.
    pub fn mtu(&self, name: &str, mtu: u32) -> Result<(), Error> {
        self.change(name, |link| link.attributes.push(LinkAttribute::Mtu(mtu)))
    }

    /// Gives an interface another name. It must be down, or the kernel new enough.
    pub fn rename(&self, name: &str, to: &str) -> Result<(), Error> {
        self.change(name, |link| link.attributes.push(LinkAttribute::IfName(to.into())))
    }

    /// Switches an interface on or off.
    pub fn switch(&self, name: &str, on: bool) -> Result<(), Error> {
        self.run(|| Interface::switch(Interface::named(name)?.index, on))?
    }

    /// Removes an interface; of a cable both ends.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        self.run(|| {
            let mut link = LinkMessage::default();
            link.header.index = Interface::named(name)?.index;
            let asked = netlink::change(&RouteNetlinkMessage::DelLink(link), 0);
            asked.doing(format!("remove {name}"))
        })?
    }

    fn add(&self, name: &str, info: Vec<LinkInfo>) -> Result<(), Error> {
        let mut link = LinkMessage::default();
        link.attributes.push(LinkAttribute::IfName(name.into()));
        link.attributes.push(LinkAttribute::LinkInfo(info));
        let message = RouteNetlinkMessage::NewLink(link);
        let asked = self.run(|| netlink::change(&message, NLM_F_CREATE | NLM_F_EXCL))?;
        asked.doing(format!("make the interface {name}"))
    }

    fn change(&self, name: &str, edit: impl FnOnce(&mut LinkMessage) + Send) -> Result<(), Error> {
        self.run(|| {
            let mut link = LinkMessage::default();
            link.header.index = Interface::named(name)?.index;
            edit(&mut link);
            netlink::change(&RouteNetlinkMessage::SetLink(link), 0).doing(format!("change {name}"))
        })?
    }

    fn open(path: &Path) -> io::Result<Namespace> {
        let file = File::open(path)?;
        // As long as it is open nothing else has the number.
        let inode = file.metadata()?.ino();
        Ok(Namespace { descriptor: Arc::new(file.into()), inode })
    }

    fn set(&self) -> io::Result<()> {
        // SAFETY: takes integers only, and moves only the calling thread.
        done(unsafe { libc::setns(self.descriptor.as_raw_fd(), libc::CLONE_NEWNET) })
    }
}

/// Whether this process may make interfaces in the network namespace that it is in, and other
/// namespaces.
pub fn is_able() -> bool {
    has_capability(Capability::CAP_SYS_ADMIN) && has_capability(Capability::CAP_NET_ADMIN)
}

/// Makes this process, which must have no other threads yet, root of a user namespace of its own if
/// it may not make network namespaces otherwise. Outside of what it makes itself it may do no more
/// than before.
///
/// # Errors
/// If the system does not allow that.
pub fn become_able() -> Result<(), Error> {
    if has_capability(Capability::CAP_SYS_ADMIN) {
        return Ok(());
    }
    become_root().doing("make a user namespace")
}

/// Takes this process into a user namespace of its own, as its root.
pub(crate) fn become_root() -> io::Result<()> {
    // SAFETY: takes nothing and cannot fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // SAFETY: takes an integer only; without permission it fails.
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER) })?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

fn current() -> io::Result<Namespace> {
    Namespace::open(Path::new("/proc/thread-self/ns/net"))
}

/// Runs something in a thread of its own, whose namespaces are its own.
fn apart<T: Send>(something: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| match scope.spawn(something).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
