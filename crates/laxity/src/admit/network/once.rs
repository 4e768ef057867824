//! Servers that one flow has to itself are one server: a burst waits at the slowest of them only.
//! See [`path`](crate::admit::path).

use alloc::vec::Vec;

use super::Tandem;
use crate::admit::path::{Hop, pay_bursts_once};
use crate::units::Nanos;

/// The delay over the path, if nothing else comes to it.
pub(super) fn delay(tandem: &Tandem) -> Option<Nanos> {
    let [flow] = &tandem.flows[..] else { return None };
    let hop = |server: &super::Server| Hop { delay: server.delay, service: server.service.clone() };
    let hops: Vec<_> = tandem.servers.iter().map(hop).collect();
    pay_bursts_once(&flow.arrivals[0], flow.packet, &hops).ok()
}
