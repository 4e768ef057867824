//! What else the kernel does with the frames of an interface.

use std::fs;
use std::net::IpAddr;

use netlink_packet_route::address::AddressAttribute;

use super::Interface;
use crate::error::{Doing, Error};
use crate::netlink;
use crate::rtnetlink::Rtnetlink;

/// What the kernel does with the frames of an interface, beside a forwarder that takes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Surroundings {
    /// Addresses of IP at which the host answers, without those of the link alone (fe80::/10).
    pub addresses: Vec<IpAddr>,
    /// The bridge, bond or the like that takes the frames, by its name.
    pub controller: Option<String>,
    /// Whether the host routes packets of IPv4 that arrive there.
    pub routes_ipv4: bool,
    /// Whether it routes those of IPv6.
    pub routes_ipv6: bool,
}

impl Surroundings {
    /// Those of an interface of the calling thread's network namespace.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn new(interface: &Interface) -> Result<Self, Error> {
        let told = Rtnetlink::bound().and_then(|mut socket| netlink::addresses(&mut socket));
        let told = told.doing("list the addresses of interfaces")?;
        let own = told.into_iter().filter(|told| told.header.index == interface.index);
        let address = |attribute| match attribute {
            AddressAttribute::Address(address) => Some(address),
            _ => None,
        };
        let addresses = own.filter_map(|told| told.attributes.into_iter().find_map(address));
        let name_of = |index| {
            let all = Interface::all()?;
            let found = all.into_iter().find(|interface| interface.index == index);
            Ok::<_, Error>(found.map_or_else(|| format!("interface {index}"), |it| it.name))
        };
        Ok(Surroundings {
            addresses: addresses.filter(|address| !is_of_link(address)).collect(),
            controller: interface.controller.map(name_of).transpose()?,
            routes_ipv4: routes("ipv4", &interface.name),
            routes_ipv6: routes("ipv6", &interface.name),
        })
    }

    /// Whether the host routes packets of this address's version of IP that arrive there.
    pub fn routes(&self, address: &IpAddr) -> bool {
        if address.is_ipv4() { self.routes_ipv4 } else { self.routes_ipv6 }
    }
}

fn is_of_link(address: &IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.is_unicast_link_local())
}

/// Whether packets that arrive there are forwarded; not where the kernel has no such version of IP.
fn routes(version: &str, interface: &str) -> bool {
    let setting = format!("/proc/sys/net/{version}/conf/{interface}/forwarding");
    fs::read_to_string(setting).is_ok_and(|text| text.trim() != "0")
}
