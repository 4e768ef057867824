//! How long a class's packets may take over a path that others share in part.
//!
//! A [`Tandem`] is what the literature analyses: servers in a row that are known by their service
//! curves, the flow of interest, which passes all of them, and flows that meet it at one server and
//! leave it at another. What is known of all of them at every server comes from an analysis of the
//! whole network that goes from server to server ([`path`](super::path)).
//!
//! Several [methods](Method) bound the delay from end to end, a file each. None is the best
//! everywhere; all are asked that apply, and the least counts. A method that does not apply to the
//! path as a whole, or is loose there, may do so for parts of it, and the bounds of parts add up:
//! each is asked for the best way to cut it.
//!
//! Servers store and forward: a packet counts with its last bit, at every server. What comes to a
//! server, and what leaves it, are whole packets.

mod fifo;
mod hops;
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
use crate::police::TokenBucket;
use crate::units::{Bytes, Nanos};

/// Servers in a row, and what passes them.
#[derive(Clone, Debug)]
pub struct Tandem {
    /// In the order of the path.
    pub servers: Vec<Server>,
    /// What passes them; the first is the flow of interest and passes all.
    pub flows: Vec<Flow>,
    /// What is known of several flows together.
    pub groups: Vec<Group>,
}

/// Where packets of several flows wait for one another.
#[derive(Clone, Debug)]
pub struct Server {
    /// By what the packets of all flows that pass are served together: the one that ends with the
    /// x-th byte of a period in which there are packets here leaves once the curve has come to x,
    /// and `late` after that at most. `None` if only the delay is known.
    pub service: Option<Service>,
    /// In what order.
    pub order: Order,
    /// The longest packet that passes.
    pub packet: Bytes,
    /// No packet takes longer from its arrival here to its last bit out, whatever flow it is of.
    pub delay: Nanos,
}

/// In what order a server takes the packets of different flows; those of one flow stay in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// In that of their arrival.
    Fifo,
    /// In any; the service curve holds for every such period, wherever it begins (it is strict).
    Arbitrary,
}

/// All packets of a class that pass the same of these servers in a row.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Which class they are of, by any number.
    pub class: usize,
    /// The servers.
    pub path: Range<usize>,
    /// For each of these, the arrival curve of the whole class there, this flow and others of it.
    pub arrivals: Vec<Vec<TokenBucket>>,
    /// The longest packet.
    pub packet: Bytes,
}

/// Flows that keep an arrival curve together where they come to a server, as those do that come
/// over one link.
#[derive(Clone, Debug)]
pub struct Group {
    /// Where they come to.
    pub server: usize,
    /// By number, in their order.
    pub flows: Vec<usize>,
    /// The curve.
    pub arrival: Vec<TokenBucket>,
}

/// How a bound is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Method {
    /// The delays at all servers, added.
    Hops,
    /// Servers in a row that the same packets pass are one.
    Once,
    /// What cross traffic leaves at each server, by convolution (separated flow analysis).
    Sfa,
    /// The least upper delay bound.
    Ludb,
    /// A linear programme of polynomial size.
    Plp,
    /// What other flows leave of each server, in whatever order they are served.
    Separate,
    /// The same of all servers together, where other flows count once.
    MultiplexingOnce,
    /// The same of the best parts.
    Matching,
}

/// A bound, and by what it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// How.
    pub method: Method,
    /// The longest delay from the arrival at the first server to the last bit out of the last one,
    /// without propagation.
    pub delay: Nanos,
}

impl Method {
    /// All of them; of those that find the same, the first counts.
    pub const ALL: [Method; 8] = [
        Method::Hops,
        Method::Once,
        Method::Sfa,
        Method::Ludb,
        Method::Plp,
        Method::Separate,
        Method::MultiplexingOnce,
        Method::Matching,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Method::Hops => "hops added",
            Method::Once => "bursts once",
            Method::Sfa => "SFA",
            Method::Ludb => "LUDB",
            Method::Plp => "PLP",
            Method::Separate => "separate flows",
            Method::MultiplexingOnce => "multiplexing once",
            Method::Matching => "tandem matching",
        }
    }

    /// The delay over the path, whose servers may be [`Fifo`], if the least that is known so far is
    /// `known`; `None` if the method does not apply.
    fn bound(
        self,
        tandem: &Tandem,
        fifo: Option<&Fifo>,
        known: Nanos,
        solver: &dyn Solver,
    ) -> Option<Nanos> {
        match self {
            Method::Hops => Some(hops::delay(tandem)),
            Method::Once => tandem.cut(once::delay),
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
    /// What each method finds that applies, in the order of [`Method::ALL`]. Of one server the
    /// methods for cross traffic find nothing that is less than its delay.
    pub fn bounds(&self, solver: &dyn Solver) -> Vec<Bound> {
        self.bounds_down_to(Nanos::ZERO, solver)
    }

    /// Whether the least of these bounds is no more than this; methods are asked until one finds
    /// it.
    pub fn is_within(&self, most: Nanos, solver: &dyn Solver) -> bool {
        self.bounds_down_to(most, solver).last().is_some_and(|bound| bound.delay <= most)
    }

    /// The same up to the first that is no more than `enough`.
    fn bounds_down_to(&self, enough: Nanos, solver: &dyn Solver) -> Vec<Bound> {
        let (methods, fifo) = match self.servers.len() {
            1 => (&[Method::Hops, Method::Once][..], None),
            _ => (&Method::ALL[..], self.of_fifo_servers()),
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

    /// The least that a method finds for parts of the path together, over all ways to cut it. A
    /// server by itself takes its [`Server::delay`].
    fn cut(&self, method: impl Fn(&Tandem) -> Option<Nanos>) -> Option<Nanos> {
        // The least up to each server, from that up to those before.
        let mut least = vec![Nanos::ZERO];
        for end in 1..=self.servers.len() {
            let alone = least[end - 1].saturating_add(self.servers[end - 1].delay);
            let from =
                |start: usize| Some(least[start].saturating_add(method(&self.part(start..end))?));
            least.push((0..end - 1).filter_map(from).fold(alone, Nanos::min));
        }
        least.pop()
    }

    /// These of the servers, with what passes them.
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
        // What is known of some of the flows that are one here is not known of it.
        let group = |group: &Group| {
            let inside = parts_among(&mut group.flows.iter().copied());
            let is_whole = |flow: &usize| inside[*flow] > 0 && inside[*flow] == parts[*flow];
            let flows = (0..flows.len()).filter(is_whole).collect();
            let server = group.server - servers.start;
            Group { server, flows, arrival: group.arrival.clone() }
        };
        let here = self.groups.iter().filter(|group| servers.contains(&group.server));
        let groups = here.map(group).collect();
        Tandem { servers: self.servers[servers.clone()].to_vec(), flows, groups }
    }
}
