//! A bridge of the kernel's between two interfaces, in the place of a forwarder that has ended.

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    AfSpecInet6, AfSpecUnspec, In6AddrGenMode, InfoBridge, InfoData, InfoKind, LinkAttribute,
    LinkInfo, LinkMessage,
};

use crate::error::{Doing, Error, refused};
use crate::interface::Interface;
use crate::netlink;

/// What names of such bridges begin with; the number of an interface follows.
const PREFIX: &str = "laxity-by";
/// Frames for bridges themselves (01:80:c2:00:00:03 to 0f) pass like any other: all that the kernel
/// lets pass.
const GROUPS: u16 = 0xfff8;

/// Whether an interface of this name is such a bridge.
pub fn is_bypass(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Bridges two interfaces of the calling thread's network namespace. If they are, nothing happens.
///
/// # Errors
/// Without `CAP_NET_ADMIN`, if the kernel has no bridges, or an interface is part of another one.
pub fn raise(interfaces: [&str; 2]) -> Result<(), Error> {
    let all = Interface::all()?;
    let find = |name: &str| all.iter().find(|interface| interface.name == name);
    let port = |name: &str| find(name).cloned().map_or_else(|| Interface::named(name), Ok);
    let ports = [port(interfaces[0])?, port(interfaces[1])?];
    let name = format!("{PREFIX}{}", ports[0].index);
    let existing = find(&name);
    let bridge = match existing {
        Some(bridge) => bridge.index,
        None => make(&name)?,
    };
    let is_others = |port: &&Interface| port.controller.is_some_and(|other| other != bridge);
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
        let mut link = LinkMessage::default();
        link.header.index = bridge.index;
        let removed = netlink::change(&RouteNetlinkMessage::DelLink(link), 0);
        removed.privileged(format!("remove the bridge {}", bridge.name), "CAP_NET_ADMIN")?;
    }
    Ok(())
}

/// Makes a bridge that is up, has no address of its own, and floods what it does not know. Its
/// number.
fn make(name: &str) -> Result<u32, Error> {
    let mut link = LinkMessage::default();
    let settings = vec![InfoBridge::GroupFwdMask(GROUPS), InfoBridge::MulticastSnooping(false)];
    let info = vec![LinkInfo::Kind(InfoKind::Bridge), LinkInfo::Data(InfoData::Bridge(settings))];
    link.attributes.push(LinkAttribute::IfName(name.into()));
    link.attributes.push(LinkAttribute::LinkInfo(info));
    let made = netlink::change(&RouteNetlinkMessage::NewLink(link), NLM_F_CREATE | NLM_F_EXCL);
    made.privileged(format!("make the bridge {name}"), "CAP_NET_ADMIN")?;
    let index = Interface::named(name)?.index;
    let mut link = LinkMessage::default();
    link.header.index = index;
    let no_address = AfSpecInet6::AddrGenMode(In6AddrGenMode::None);
    link.attributes.push(LinkAttribute::AfSpecUnspec(vec![AfSpecUnspec::Inet6(vec![no_address])]));
    // Without IPv6 there is no address anyway.
    let _none = netlink::change(&RouteNetlinkMessage::SetLink(link), 0);
    Interface::switch(index, true)?;
    Ok(index)
}
