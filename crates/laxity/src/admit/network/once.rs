//! Servers that one flow has to itself are one server: a burst waits at the slowest of them only.
//! See [`path`](crate::admit::path).

use alloc::vec::Vec;
use core::ops::Range;

use super::{Server, Tandem};
use crate::admit::path::{Hop, pay_bursts_once};
use crate::units::Nanos;

/// The delay over some of the servers, if nothing else comes to them.
pub(super) fn delay(tandem: &Tandem, servers: Range<usize>) -> Option<Nanos> {
    let (own, others) = tandem.flows.split_first()?;
    let mut packet = own.packet;
    for other in others {
        let inside = other.path.start.max(servers.start)..other.path.end.min(servers.end);
        if inside.is_empty() {
            continue;
        }
        // Flows of one class that pass the same are one.
        if other.class != own.class || inside != servers {
            return None;
        }
        packet = packet.max(other.packet);
    }
    let hop = |server: &Server| Hop { delay: server.delay, service: server.service.clone() };
    let hops: Vec<_> = tandem.servers[servers.clone()].iter().map(hop).collect();
    pay_bursts_once(&own.arrivals[servers.start], packet, &hops).ok()
}
