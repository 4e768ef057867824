//! A bridge of the kernel's between two interfaces, in the place of a forwarder that has ended.

use caps::Capability;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    AfSpecInet6, AfSpecUnspec, In6AddrGenMode, InfoBridge, InfoData, InfoKind, LinkAttribute,
    LinkInfo, LinkMessage,
};

use crate::error::{Doing, Error, missing, refused};
use crate::interface::Interface;
use crate::netlink;
use crate::sandbox::Sandbox;

/// What names of such bridges begin with; the number of an interface follows.
const PREFIX: &str = "laxity-by";
/// What names of bridges begin with that are made to see whether that works; the number of the
/// process follows.
const TRIAL: &str = "laxity-t";
/// Frames for bridges themselves (01:80:c2:00:00:03 to 0f) pass like any other: all that the kernel
/// lets pass.
const GROUPS: u16 = 0xfff8;

/// Whether an interface of this name is such a bridge.
pub fn is_bypass(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Makes sure that [`raise`] can work: makes a bridge without interfaces, and removes it.
///
/// # Errors
/// Without `CAP_NET_ADMIN`, or if the kernel has no bridges.
pub fn check() -> Result<(), Error> {
    let name = format!("{TRIAL}{}", std::process::id());
    let index = make(&name)?;
    settle(index)?;
    remove(index, &name)
}

/// Takes from the calling thread, for good, what [`raise`] and [`lower`] do not need. It keeps
/// `CAP_NET_ADMIN` and may open sockets.
///
/// # Errors
/// As [`Sandbox::enter`].
pub fn confine() -> Result<(), Error> {
    let calls = [libc::SYS_socket, libc::SYS_connect, libc::SYS_getsockname, libc::SYS_setsockopt];
    let sandbox = calls.into_iter().fold(Sandbox::new(), Sandbox::call);
    sandbox.capability(Capability::CAP_NET_ADMIN).enter().map(drop)
}

/// Bridges two interfaces of the calling thread's network namespace. If they are, nothing happens.
///
/// # Errors
/// Without `CAP_NET_ADMIN`, if the kernel has no bridges, or an interface is part of another one.
pub fn raise(interfaces: [&str; 2]) -> Result<(), Error> {
    let all = Interface::all()?;
    let find = |name: &str| all.iter().find(|interface| interface.name == name);
    let port = |name: &str| {
        let none = || missing(format!("bridge the interface {name}"), "there is none");
        find(name).ok_or_else(none)
    };
    let ports = [port(interfaces[0])?, port(interfaces[1])?];
    let name = format!("{PREFIX}{}", ports[0].index);
    let existing = find(&name);
    let bridge = match existing {
        Some(bridge) => bridge.index,
        None => make(&name)?,
    };
    // Who made it may have been killed before that.
    settle(bridge)?;
    let is_others = |port: &&&Interface| port.controller.is_some_and(|other| other != bridge);
    if let Some(port) = ports.iter().find(is_others) {
        return Err(refused(format!("bridge {}", port.name), "it is part of something else"));
    }
    for port in ports.iter().filter(|port| port.controller != Some(bridge)) {
        let mut link = LinkMessage::default();
        link.header.index = port.index;
        link.attributes.push(LinkAttribute::Controller(bridge));
        netlink::change(&RouteNetlinkMessage::SetLink(link), 0)
            .doing(format!("bridge {}", port.name))?;
    }
    Ok(())
}

/// Takes away the bridges of [`raise`] that one of these interfaces is part of.
///
/// # Errors
/// Without `CAP_NET_ADMIN`, where there is one.
pub fn lower(interfaces: [&str; 2]) -> Result<(), Error> {
    let all = Interface::all()?;
    let ports = all.iter().filter(|interface| interfaces.contains(&&*interface.name));
    let controllers: Vec<u32> = ports.filter_map(|port| port.controller).collect();
    let is_ours = |it: &&Interface| is_bypass(&it.name) && controllers.contains(&it.index);
    for bridge in all.iter().filter(is_ours) {
        remove(bridge.index, &bridge.name)?;
    }
    Ok(())
}

fn remove(bridge: u32, name: &str) -> Result<(), Error> {
    let mut link = LinkMessage::default();
    link.header.index = bridge;
    let removed = netlink::change(&RouteNetlinkMessage::DelLink(link), 0);
    removed.privileged(format!("remove the bridge {name}"), "CAP_NET_ADMIN")
}

/// Makes a bridge that floods what it does not know. Its number.
fn make(name: &str) -> Result<u32, Error> {
    let mut link = LinkMessage::default();
    let settings = vec![InfoBridge::GroupFwdMask(GROUPS), InfoBridge::MulticastSnooping(false)];
    let info = vec![LinkInfo::Kind(InfoKind::Bridge), LinkInfo::Data(InfoData::Bridge(settings))];
    link.attributes.push(LinkAttribute::IfName(name.into()));
    link.attributes.push(LinkAttribute::LinkInfo(info));
    let made = netlink::change(&RouteNetlinkMessage::NewLink(link), NLM_F_CREATE | NLM_F_EXCL);
    made.privileged(format!("make the bridge {name}"), "CAP_NET_ADMIN")?;
    let all = Interface::all()?;
    let found = all.iter().find(|interface| interface.name == name);
    let found = found.ok_or_else(|| missing(format!("find the bridge {name}"), "it is gone"))?;
    Ok(found.index)
}

/// Gives a bridge no address of its own, and switches it on.
fn settle(bridge: u32) -> Result<(), Error> {
    let mut link = LinkMessage::default();
    link.header.index = bridge;
    let no_address = AfSpecInet6::AddrGenMode(In6AddrGenMode::None);
    link.attributes.push(LinkAttribute::AfSpecUnspec(vec![AfSpecUnspec::Inet6(vec![no_address])]));
    // Without IPv6 there is no address anyway.
    let _none = netlink::change(&RouteNetlinkMessage::SetLink(link), 0);
    Interface::switch(bridge, true)
}
