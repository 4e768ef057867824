//! Where packets of a namespace go.

use std::net::Ipv4Addr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::Namespace;
use crate::error::{Doing, Error};
use crate::interface::Interface;
use crate::netlink;

impl Namespace {
    /// Sends all packets that have no other way to a gateway, which an interface reaches.
    pub fn default_route(&self, name: &str, gateway: Ipv4Addr) -> Result<(), Error> {
        self.run(|| {
            let mut route = RouteMessage::default();
            route.header.address_family = AddressFamily::Inet;
            route.header.table = RouteHeader::RT_TABLE_MAIN;
            route.header.protocol = RouteProtocol::Static;
            route.header.scope = RouteScope::Universe;
            route.header.kind = RouteType::Unicast;
            route.attributes.push(RouteAttribute::Gateway(RouteAddress::Inet(gateway)));
            route.attributes.push(RouteAttribute::Oif(Interface::named(name)?.index));
            let message = RouteNetlinkMessage::NewRoute(route);
            let asked = netlink::change(&message, NLM_F_CREATE | NLM_F_EXCL);
            asked.doing(format!("make {gateway} the gateway of {name}"))
        })?
    }

    /// Has an interface know the Ethernet address of a neighbour for good, so that it never asks.
    pub fn neighbour(&self, name: &str, address: Ipv4Addr, mac: [u8; 6]) -> Result<(), Error> {
        self.run(|| {
            let mut neighbour = NeighbourMessage::default();
            neighbour.header.family = AddressFamily::Inet;
            neighbour.header.ifindex = Interface::named(name)?.index;
            neighbour.header.state = NeighbourState::Permanent;
            let address_of = NeighbourAddress::Inet(address);
            neighbour.attributes.push(NeighbourAttribute::Destination(address_of));
            neighbour.attributes.push(NeighbourAttribute::LinkLayerAddress(mac.to_vec()));
            let message = RouteNetlinkMessage::NewNeighbour(neighbour);
            let asked = netlink::change(&message, NLM_F_CREATE | NLM_F_REPLACE);
            asked.doing(format!("tell {name} where {address} is"))
        })?
    }
}
