//! Network interfaces: what they are, what they do by themselves, and when they change.
//!
//! Everything here is about the network namespace of the calling thread.

mod changes;
mod claim;
mod ethtool;
mod surroundings;

pub use changes::{Change, Changes};
pub use claim::Claim;
pub use ethtool::{Offload, driver, offload, set_offload, speed};
pub use surroundings::Surroundings;

use std::io;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    InfoKind, LinkAttribute, LinkFlags, LinkInfo, LinkLayerType, LinkMessage, LinkXdp, XdpAttached,
};

use crate::error::{Doing, Error, missing};
use crate::netlink;
use crate::rtnetlink::Rtnetlink;

/// An interface as it was when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interface {
    /// Its number, which it keeps when it is renamed. One that is removed and comes back has
    /// another.
    pub index: u32,
    /// Its name, at most 15 bytes.
    pub name: String,
    /// The most bytes of a packet behind the Ethernet header.
    pub mtu: u32,
    /// What its frames begin with.
    pub header: LinkHeader,
    /// Its Ethernet address; none if it is of another kind, such as a tunnel.
    pub mac: Option<[u8; 6]>,
    /// Whether it is switched on and has a carrier, so that frames pass.
    pub up: bool,
    /// How many queues frames arrive in.
    pub receive_queues: u32,
    /// Whether an XDP program is attached.
    pub xdp: bool,
    /// The number of the bridge, bond or the like that it is part of, if it is.
    pub controller: Option<u32>,
    /// Whether it is an `ifb`, which sends what comes as if it had arrived where it came from.
    pub is_ifb: bool,
}

/// What the frames at an interface begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "everything else is the last of them")]
pub enum LinkHeader {
    /// Two addresses of Ethernet and a type.
    Ethernet,
    /// Nothing: the packet of IP comes first, as at tunnels and PPP.
    None,
    /// Anything else.
    Other,
}

impl Interface {
    /// The one of that name.
    ///
    /// # Errors
    /// If there is none; the message says which there are.
    pub fn named(name: &str) -> Result<Interface, Error> {
        let mut all = Interface::all()?;
        let Some(place) = all.iter().position(|interface| interface.name == name) else {
            let names: Vec<&str> = all.iter().map(|interface| &*interface.name).collect();
            let why = format!("there is none; there are {}", names.join(", "));
            return Err(missing(format!("find the interface {name}"), why));
        };
        let mut found = all.swap_remove(place);
        found.receive_queues = ethtool::receive_queues(name).unwrap_or(found.receive_queues);
        Ok(found)
    }

    /// Every one that there is.
    pub fn all() -> Result<Vec<Interface>, Error> {
        let listed = Rtnetlink::bound().and_then(|mut socket| list(&mut socket));
        listed.doing("list the network interfaces")
    }

    /// Its largest frame: header, two VLAN tags, and the MTU.
    pub fn largest_frame(&self) -> usize {
        14 + 4 + 4 + self.mtu as usize
    }

    /// Switches an interface on or off.
    ///
    /// # Errors
    /// Without `CAP_NET_ADMIN`.
    pub fn switch(index: u32, on: bool) -> Result<(), Error> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.header.change_mask = LinkFlags::Up;
        message.header.flags = if on { LinkFlags::Up } else { LinkFlags::empty() };
        let changed = netlink::change(&RouteNetlinkMessage::SetLink(message), 0);
        changed.privileged(format!("switch interface {index}"), "CAP_NET_ADMIN")
    }

    fn read(message: LinkMessage) -> Interface {
        let flags = message.header.flags;
        let ethernet = message.header.link_layer_type == LinkLayerType::Ether;
        let mut interface = Interface {
            index: message.header.index,
            name: String::new(),
            mtu: 0,
            header: LinkHeader::of_type(message.header.link_layer_type),
            mac: None,
            up: flags.contains(LinkFlags::Up | LinkFlags::LowerUp),
            receive_queues: 1,
            xdp: false,
            controller: None,
            is_ifb: false,
        };
        for attribute in message.attributes {
            match attribute {
                LinkAttribute::IfName(name) => interface.name = name,
                LinkAttribute::Mtu(mtu) => interface.mtu = mtu,
                LinkAttribute::Address(mac) if ethernet => interface.mac = mac.try_into().ok(),
                // Zero for what has just left one.
                LinkAttribute::Controller(index) if index > 0 => interface.controller = Some(index),
                LinkAttribute::NumRxQueues(queues) => interface.receive_queues = queues,
                LinkAttribute::Xdp(xdp) => interface.xdp = xdp.iter().any(is_attached),
                LinkAttribute::LinkInfo(info) => {
                    interface.is_ifb = info.contains(&LinkInfo::Kind(InfoKind::Ifb));
                }
                _ => {}
            }
        }
        interface
    }
}

impl LinkHeader {
    fn of_type(kind: LinkLayerType) -> LinkHeader {
        match kind {
            LinkLayerType::Ether => LinkHeader::Ethernet,
            LinkLayerType::None
            | LinkLayerType::Ppp
            | LinkLayerType::Rawip
            | LinkLayerType::Tunnel
            | LinkLayerType::Tunnel6
            | LinkLayerType::Sit => LinkHeader::None,
            _ => LinkHeader::Other,
        }
    }
}

fn is_attached(xdp: &LinkXdp) -> bool {
    matches!(xdp, LinkXdp::Attached(attached) if *attached != XdpAttached::None)
}

/// Every interface of the namespace that the socket was opened in.
fn list(socket: &mut Rtnetlink) -> io::Result<Vec<Interface>> {
    Ok(netlink::links(socket)?.into_iter().map(Interface::read).collect())
}
