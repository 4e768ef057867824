//! Where packets to an address leave this machine.

use std::net::Ipv4Addr;

use netlink_packet_core::NLM_F_ACK;
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use crate::error::{Doing, Error};
use crate::netlink;
use crate::rtnetlink::{Message, Rtnetlink};

/// Asks the kernel for routes, in the network namespace of the thread that opens it.
#[derive(Debug)]
pub struct Routes(Rtnetlink);

/// Where packets to an address go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Route {
    /// The number of the interface.
    pub interface: u32,
    /// The address that packets of this machine's own have there.
    pub source: Ipv4Addr,
}

impl Routes {
    /// Opens a socket to ask with.
    ///
    /// # Errors
    /// If the system has no rtnetlink.
    pub fn open() -> Result<Routes, Error> {
        Rtnetlink::bound().map(Routes).doing("talk to rtnetlink")
    }

    /// Where packets to this address go; `None` if nowhere.
    pub fn find(&mut self, destination: Ipv4Addr) -> Option<Route> {
        let mut question = RouteMessage::default();
        question.header.address_family = AddressFamily::Inet;
        question.header.destination_prefix_length = 32;
        let address = RouteAddress::Inet(destination);
        question.attributes.push(RouteAttribute::Destination(address));
        let (kind, payload) = netlink::written(&RouteNetlinkMessage::GetRoute(question));
        // One answer comes, and the acknowledgement ends it.
        let question = Message { kind, flags: NLM_F_ACK, payload: &payload };
        let read = |kind, payload: &[u8]| match netlink::read(kind, payload)? {
            RouteNetlinkMessage::NewRoute(route) => Route::new(&route),
            _ => None,
        };
        self.0.dumped(&question, read).ok()?.into_iter().next()
    }
}

impl Route {
    fn new(route: &RouteMessage) -> Option<Route> {
        let (mut interface, mut source) = (None, None);
        for attribute in &route.attributes {
            match attribute {
                RouteAttribute::Oif(index) => interface = Some(*index),
                RouteAttribute::PrefSource(RouteAddress::Inet(address)) => source = Some(*address),
                _ => {}
            }
        }
        Some(Route { interface: interface?, source: source? })
    }
}
