//! Delay bounds of a path that other traffic shares in part.
//!
//! A [`Tandem`] is the model of the literature: servers in a row with known service curves, the
//! flow of interest, which passes all of them, and cross flows, which join at one server and leave
//! at another. Its arrival curves at each server come from an analysis of the whole network, server
//! by server ([`path`](super::path)).
//!
//! Several [methods](Method) bound the end-to-end delay; each has a file. None is always the best,
//! so that all that apply are tried and the least bound counts. A method may also be applied to
//! parts of the path, whose bounds add up. Each method picks the best way to cut the path.
//!
//! Servers store and forward: a packet counts with its last bit, at every server. So arrivals and
//! departures are whole packets.

mod fifo;
mod last_packet;
mod ludb;
mod matching;
mod once;
mod plp;
pub mod programme;
#[cfg(test)]
mod tests;

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use self::fifo::Fifo;
use self::ludb::Cuts;
use self::programme::Solver;
use super::Service;
use crate::named::named;
use crate::police::TokenBucket;
use crate::units::{Bytes, Nanos, Rate};

/// Servers in a row, and the flows that pass them.
#[derive(Clone, Debug)]
pub struct Tandem {
    /// In the order of the path.
    pub servers: Vec<Server>,
    /// All flows; the first is the flow of interest and passes all servers.
    pub flows: Vec<Flow>,
    /// Joint arrival curves of several flows.
    pub groups: Vec<Group>,
    /// The shortest packet of the flow of interest.
    pub shortest: Bytes,
}

/// Where packets of several flows wait for one another.
#[derive(Clone, Debug)]
pub struct Server {
    /// The service of all packets together: the packet that ends with the x-th byte of a period in
    /// which the server has packets leaves at most `late` after the curve has reached x. `None` if
    /// only the delay is known.
    pub service: Option<Service>,
    /// The order of packets of different flows.
    pub order: Order,
    /// The longest packet that passes.
    pub packet: Bytes,
    /// Upper bound on the delay of any packet, from its arrival to its last bit out.
    pub delay: Nanos,
    /// The rate of the link, if `service` holds for every byte of a packet, not only for its last:
    /// as soon as one byte has left, those behind it follow at this rate.
    pub link_rate: Option<Rate>,
}

/// The order in which a server takes packets of different flows. Packets of one flow always stay in
/// order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// In order of arrival.
    Fifo,
    /// In any order. The service curve is strict: it holds from any moment of a busy period.
    Arbitrary,
}

/// All packets of a class that pass the same of these servers in a row.
#[derive(Clone, Debug)]
pub struct Flow {
    /// A number of the class, the same in all its flows.
    pub class: usize,
    /// The servers.
    pub path: Range<usize>,
    /// For each server of `path`, the arrival curve there of the whole class: this flow and the
    /// others of the class.
    pub arrivals: Vec<Vec<TokenBucket>>,
    /// The longest packet.
    pub packet: Bytes,
}

/// Flows with a joint arrival curve at a server, such as those that come over one link.
#[derive(Clone, Debug)]
pub struct Group {
    /// The server.
    pub server: usize,
    /// Positions in [`Tandem::flows`], ascending.
    pub flows: Vec<usize>,
    /// The joint arrival curve.
    pub arrival: Vec<TokenBucket>,
}

named! {
    /// A method that bounds the delay of the flow of interest. Of several with the same bound, the
    /// first counts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Method {
        /// The sum of the delays at all servers (total flow analysis: Cruz 1991, part II; with
        /// shaping by links, Mifdaoui, Leydier 2017). The delay at each holds for all flows that
        /// pass it.
        Hops = "hops added",
        /// Pay bursts only once: servers in a row that the same packets pass are one.
        Once = "bursts once",
        /// Separated flow analysis: the convolution of the service that cross traffic leaves at
        /// each server.
        Sfa = "SFA",
        /// The least upper delay bound.
        Ludb = "LUDB",
        /// A linear program of polynomial size.
        Plp = "PLP",
        /// Separate flow analysis for servers in [any order](Order::Arbitrary).
        Separate = "separate flows",
        /// Pay multiplexing only once: as `Separate`, but the burst of a cross flow counts once.
        MultiplexingOnce = "multiplexing once",
        /// Tandem matching: `MultiplexingOnce` on the best parts of the path.
        Matching = "tandem matching",
    }
}

/// A delay bound and the method that found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The method.
    pub method: Method,
    /// The longest delay from the arrival at the first server to the last bit out of the last one,
    /// without propagation.
    pub delay: Nanos,
}

impl Method {
    /// The delay bound of the tandem, and `fifo` its form for first-in, first-out servers. `known`
    /// is the least bound so far. `None` if the method does not apply.
    fn bound(
        self,
        tandem: &Tandem,
        fifo: Option<&Fifo>,
        known: Nanos,
        solver: &dyn Solver,
    ) -> Option<Nanos> {
        match self {
            Method::Hops => Some(total_delay(&tandem.servers)),
            Method::Once => tandem.cut(|servers| once::delay(tandem, servers)),
            Method::Sfa => ludb::delay(fifo?, Cuts::Everywhere, solver),
            Method::Ludb => ludb::least(fifo?, solver),
            Method::Plp => plp::delay(fifo?, known, solver),
            Method::Separate => matching::separate(tandem),
            Method::MultiplexingOnce => matching::once(tandem),
            Method::Matching => matching::matching(tandem),
        }
    }
}

impl Tandem {
    /// The bounds of all methods that apply, in the order of [`Method::ALL`]. A single server has
    /// only the first two: its delay is known.
    pub fn bounds(&self, solver: &dyn Solver) -> Vec<Bound> {
        self.bounds_down_to(Nanos::ZERO, solver)
    }

    /// Whether the least bound is at most `most`. Methods are tried until one proves it.
    pub fn is_within(&self, most: Nanos, solver: &dyn Solver) -> bool {
        self.bounds_down_to(most, solver).last().is_some_and(|bound| bound.delay <= most)
    }

    /// The bounds up to the first that is at most `enough`.
    fn bounds_down_to(&self, enough: Nanos, solver: &dyn Solver) -> Vec<Bound> {
        let (methods, fifo) = match self.servers.len() {
            1 => (&[Method::Hops, Method::Once][..], None),
            _ => (&Method::ALL[..], self.as_fifo()),
        };
        let mut bounds: Vec<Bound> = Vec::new();
        let mut least = Nanos::MAX;
        for &method in methods {
            let Some(delay) = method.bound(self, fifo.as_ref(), least, solver) else { continue };
            bounds.push(Bound { method, delay });
            least = least.min(delay);
            if least <= enough {
                break;
            }
        }
        bounds
    }

    /// The least sum of a method's bounds over the parts of the path, over all ways to cut it. A
    /// part of one server takes its [`Server::delay`].
    fn cut(&self, method: impl Fn(Range<usize>) -> Option<Nanos>) -> Option<Nanos> {
        // The least up to each server, from that up to those before.
        let mut least = vec![Nanos::ZERO];
        for end in 1..=self.servers.len() {
            let alone = least[end - 1].saturating_add(self.servers[end - 1].delay);
            let from = |start: usize| Some(least[start].saturating_add(method(start..end)?));
            least.push((0..end - 1).filter_map(from).fold(alone, Nanos::min));
        }
        least.pop()
    }

    /// The part of the tandem at these servers.
    pub fn part(&self, servers: Range<usize>) -> Tandem {
        let mut flows: Vec<Flow> = Vec::new();
        // Flows of one class that are together here are one, by which number.
        let mut known: BTreeMap<(usize, usize, usize), usize> = BTreeMap::new();
        let numbers = self.flows.iter().map(|flow| {
            let start = flow.path.start.max(servers.start);
            let end = flow.path.end.min(servers.end);
            if start >= end {
                return None;
            }
            let number = *known.entry((flow.class, start, end)).or_insert(flows.len());
            match flows.get_mut(number) {
                Some(one) => one.packet = one.packet.max(flow.packet),
                None => {
                    let inside = start - flow.path.start..end - flow.path.start;
                    let arrivals = flow.arrivals[inside].to_vec();
                    let path = start - servers.start..end - servers.start;
                    flows.push(Flow { path, arrivals, ..*flow });
                }
            }
            Some(number)
        });
        let numbers: Vec<Option<usize>> = numbers.collect();
        let parts_among = |of: &mut dyn Iterator<Item = usize>| {
            let mut parts = vec![0; flows.len()];
            of.filter_map(|flow| numbers[flow]).for_each(|number| parts[number] += 1);
            parts
        };
        let parts = parts_among(&mut (0..numbers.len()));
        // A joint curve of some of the flows that are merged here is none of the merged flow.
        let group = |group: &Group| {
            let inside = parts_among(&mut group.flows.iter().copied());
            let is_whole = |flow: &usize| inside[*flow] > 0 && inside[*flow] == parts[*flow];
            let flows = (0..flows.len()).filter(is_whole).collect();
            let server = group.server - servers.start;
            Group { server, flows, arrival: group.arrival.clone() }
        };
        let here = self.groups.iter().filter(|group| servers.contains(&group.server));
        let groups = here.map(group).collect();
        let servers = self.servers[servers.clone()].to_vec();
        Tandem { servers, flows, groups, shortest: self.shortest }
    }
}

/// The sum of the delays at some servers.
fn total_delay<'a>(servers: impl IntoIterator<Item = &'a Server>) -> Nanos {
    servers.into_iter().map(|server| server.delay).fold(Nanos::ZERO, Nanos::saturating_add)
}
