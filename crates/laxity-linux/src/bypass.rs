//! A bridge of the kernel's between two interfaces, in the place of a forwarder that has ended.

use std::io;

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

/// What names of such bridges begin with; the number of the first interface follows.
const PREFIX: &str = "laxity-by";
/// Frames for bridges themselves (01:80:c2:00:00:03 to 0f) pass like any other: all that the kernel
/// lets pass.
const GROUPS: u16 = 0xfff8;

/// Whether an interface of this name is such a bridge.
pub fn is_bypass(name: &str) -> bool {
    first_port(name).is_some()
}

/// The number of the first interface of such a bridge.
fn first_port(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.parse().ok()
}

/// Takes from the calling thread, for good, what the functions of this module do not need. It keeps
/// `CAP_NET_ADMIN` and may open sockets.
///
/// # Errors
/// As [`Sandbox::enter`].
pub fn confine() -> Result<(), Error> {
    let calls = [libc::SYS_socket, libc::SYS_connect, libc::SYS_getsockname, libc::SYS_setsockopt];
    let sandbox = calls.into_iter().fold(Sandbox::new(), Sandbox::call);
    sandbox.capability(Capability::CAP_NET_ADMIN).enter().map(drop)
}

/// Makes the bridge of two interfaces of the calling thread's network namespace, without them:
/// [`raise`] takes a few milliseconds then. What is left of such bridges of interfaces that are
/// gone is removed. Returns whether there was no such bridge.
///
/// # Errors
/// Without `CAP_NET_ADMIN`, if the kernel has no bridges, or an interface is missing.
pub fn prepare(interfaces: [&str; 2]) -> Result<bool, Error> {
    let all = Interface::all()?;
    let is_left = |bridge: &&Interface| {
        let first = first_port(&bridge.name);
        let is_gone = first.is_some_and(|first| all.iter().all(|other| other.index != first));
        is_gone && ports_of(bridge, &all).next().is_none()
    };
    for bridge in all.iter().filter(is_left) {
        // Another process may have removed it.
        let _tidied = remove(bridge);
    }
    let (bridge, is_new) = find_or_make(&all, find_ports(&all, interfaces)?)?;
    settle(bridge)?;
    Ok(is_new)
}

/// Bridges two interfaces of the calling thread's network namespace. If they are, nothing happens.
///
/// # Errors
/// Without `CAP_NET_ADMIN`, if the kernel has no bridges, or an interface is part of another one.
pub fn raise(interfaces: [&str; 2]) -> Result<(), Error> {
    let all = Interface::all()?;
    let ports = find_ports(&all, interfaces)?;
    let (bridge, _) = find_or_make(&all, ports)?;
    let is_others = |port: &&Interface| port.controller.is_some_and(|other| other != bridge);
    if let Some(port) = ports.into_iter().find(is_others) {
        return Err(refused(format!("bridge {}", port.name), "it is part of something else"));
    }
    for port in ports.iter().filter(|port| port.controller != Some(bridge)) {
        join(port, Some(bridge)).doing(format!("bridge {}", port.name))?;
    }
    // Who made it may have been killed before that.
    settle(bridge)
}

/// Takes two interfaces out of the bridge of [`raise`], which stays without them. Bridges of one of
/// them with another interface are removed.
///
/// # Errors
/// Without `CAP_NET_ADMIN`, where they are bridged.
pub fn lower(interfaces: [&str; 2]) -> Result<(), Error> {
    let all = Interface::all()?;
    let is_named = |port: &Interface| interfaces.contains(&&*port.name);
    let first = all.iter().find(|interface| interface.name == interfaces[0]);
    for bridge in all.iter().filter(|bridge| is_bypass(&bridge.name)) {
        let ports: Vec<&Interface> = ports_of(bridge, &all).collect();
        let is_ours = first.is_some_and(|first| first_port(&bridge.name) == Some(first.index));
        if is_ours && ports.iter().all(|port| is_named(port)) {
            for port in ports {
                let left = join(port, None);
                left.privileged(format!("take {} out of a bridge", port.name), "CAP_NET_ADMIN")?;
            }
        } else if ports.iter().any(|port| is_named(port)) {
            remove(bridge)?;
        }
    }
    Ok(())
}

/// Removes the bridge of two interfaces if neither is part of it.
///
/// # Errors
/// Without `CAP_NET_ADMIN`, where there is one.
pub fn forget(interfaces: [&str; 2]) -> Result<(), Error> {
    let all = Interface::all()?;
    let Ok([first, _]) = find_ports(&all, interfaces) else { return Ok(()) };
    let bridge = all.iter().find(|bridge| first_port(&bridge.name) == Some(first.index));
    match bridge {
        Some(bridge) if ports_of(bridge, &all).next().is_none() => remove(bridge),
        _ => Ok(()),
    }
}

fn find_ports<'a>(all: &'a [Interface], names: [&str; 2]) -> Result<[&'a Interface; 2], Error> {
    let find = |name: &str| {
        let found = all.iter().find(|interface| interface.name == name);
        found.ok_or_else(|| missing(format!("bridge the interface {name}"), "there is none"))
    };
    Ok([find(names[0])?, find(names[1])?])
}

fn ports_of<'a>(bridge: &Interface, all: &'a [Interface]) -> impl Iterator<Item = &'a Interface> {
    let index = bridge.index;
    all.iter().filter(move |port| port.controller == Some(index))
}

/// The number of the bridge of two interfaces, and whether it is new.
fn find_or_make(all: &[Interface], ports: [&Interface; 2]) -> Result<(u32, bool), Error> {
    let name = format!("{PREFIX}{}", ports[0].index);
    let find = |all: &[Interface]| Some(all.iter().find(|it| it.name == name)?.index);
    if let Some(bridge) = find(all) {
        return Ok((bridge, false));
    }
    match make(&name) {
        Ok(bridge) => Ok((bridge, true)),
        // Another process may have made it.
        Err(error) => Ok((find(&Interface::all()?).ok_or(error)?, false)),
    }
}

/// Makes an interface part of a bridge, or of none.
fn join(port: &Interface, bridge: Option<u32>) -> io::Result<()> {
    let mut link = LinkMessage::default();
    link.header.index = port.index;
    link.attributes.push(LinkAttribute::Controller(bridge.unwrap_or(0)));
    netlink::change(&RouteNetlinkMessage::SetLink(link), 0)
}

fn remove(bridge: &Interface) -> Result<(), Error> {
    let mut link = LinkMessage::default();
    link.header.index = bridge.index;
    let removed = netlink::change(&RouteNetlinkMessage::DelLink(link), 0);
    removed.privileged(format!("remove the bridge {}", bridge.name), "CAP_NET_ADMIN")
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
