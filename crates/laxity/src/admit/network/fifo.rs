//! What a first-in, first-out server leaves of its service to some of its flows.
//!
//! If all packets are served by the curve S in order of arrival and the others come under A, then
//! the rest has, for every `theta >= 0`, the service curve
//!
//! ```text
//! [S(t) - A(t - theta)]+ for t > theta, and 0 before
//! ```
//!
//! (Cruz 1998, "SCED+"; Le Boudec, Thiran 2001, Proposition 6.2.1; that it may fall does no harm:
//! Bouillard, Boyer, Le Corronc 2018, Theorem 7.5). Which theta is the best depends on what else is
//! on the path.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use num_traits::Zero;

use super::{Flow, Group, Order, Tandem, total_delay};
use crate::admit::lines;
use crate::admit::path::{ROUNDING, lowered, undominated};
use crate::curve::{Curve, Exact, Piece, exact_nanos};
use crate::police::TokenBucket;
use crate::units::Nanos;

/// The service curve of the rest.
pub(super) fn residual(service: &Curve, others: &Curve, theta: &Exact) -> Curve {
    let left = service.sub(&others.shift(theta)).clamp_at_zero();
    left.behind(Piece::level(Exact::zero(), Exact::zero()), theta)
}

/// A path of first-in, first-out servers.
pub(super) struct Fifo {
    /// Only the servers with a service curve. Flows that pass the same of them over the same links
    /// are merged.
    pub tandem: Tandem,
    /// The sum of the delays of the other servers. A constant delay of all packets may be taken out
    /// of a row of servers, as cross traffic leaves it as it is.
    pub apart: Nanos,
    /// Whether there are others.
    pub has_others: bool,
}

impl Tandem {
    /// The path, if all servers are first-in, first-out, one has a service curve, and the arrivals
    /// at all of these are known.
    pub(super) fn as_fifo(&self) -> Option<Fifo> {
        if self.servers.iter().any(|server| server.order != Order::Fifo) {
            return None;
        }
        let is_known = |at: &usize| self.servers[*at].service.is_some();
        let kept: Vec<usize> = (0..self.servers.len()).filter(is_known).collect();
        let is_unknown = |flow: &Flow| {
            flow.path
                .clone()
                .zip(&flow.arrivals)
                .any(|(at, comes)| is_known(&at) && comes.is_empty())
        };
        if kept.is_empty() || self.flows.iter().any(is_unknown) {
            return None;
        }
        let others = self.servers.iter().filter(|server| server.service.is_none());
        let place = |at: usize| kept.partition_point(|kept| *kept < at);
        let flow = |flow: &Flow| {
            let path = place(flow.path.start)..place(flow.path.end);
            let known = kept[path.clone()].iter();
            let arrivals = known.map(|at| flow.arrivals[at - flow.path.start].clone()).collect();
            Flow { path, arrivals, ..flow.clone() }
        };
        let mut tandem = Tandem {
            servers: kept.iter().map(|&at| self.servers[at].clone()).collect(),
            flows: self.flows.iter().map(flow).collect(),
            groups: self.groups.iter().filter(|group| is_known(&group.server)).cloned().collect(),
            shortest: self.shortest,
        };
        tandem.groups.iter_mut().for_each(|group| group.server = place(group.server));
        Some(Fifo {
            tandem: tandem.part(0..kept.len()).by_links(),
            apart: total_delay(others),
            has_others: kept.len() < self.servers.len(),
        })
    }

    /// The same with all flows that pass the same servers as one, in the order of the first of
    /// each.
    pub(super) fn by_paths(&self) -> Tandem {
        self.by(|_| Vec::new())
    }

    /// The same, but for flows that come to the first of them in different groups of classes, as
    /// over links.
    fn by_links(&self) -> Tandem {
        let of_classes = |group: &Group| {
            let mut classes = group.flows.iter().map(|flow| self.flows[*flow].class);
            let first = classes.next();
            classes.any(|class| Some(class) != first)
        };
        let links: Vec<&Group> = self.groups.iter().filter(|group| of_classes(group)).collect();
        self.by(|number| {
            let first = self.flows[number].path.start;
            let holds =
                |group: &Group| group.server == first && group.flows.binary_search(&number).is_ok();
            (0..links.len()).filter(|link| holds(links[*link])).collect()
        })
    }

    /// The same with all flows as one that pass the same servers and are of the same kind, in the
    /// order of the first of each.
    fn by(&self, kind: impl Fn(usize) -> Vec<usize>) -> Tandem {
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let mut places: BTreeMap<(usize, usize, Vec<usize>), usize> = BTreeMap::new();
        for (number, flow) in self.flows.iter().enumerate() {
            let next = parts.len();
            let key = (flow.path.start, flow.path.end, kind(number));
            let place = *places.entry(key).or_insert(next);
            match parts.get_mut(place) {
                Some(part) => part.push(number),
                None => parts.push([number].to_vec()),
            }
        }
        let flow = |(class, part): (usize, &Vec<usize>)| {
            let path = self.flows[part[0]].path.clone();
            let comes = |server: usize| self.comes(part, server);
            let packet = part.iter().map(|flow| self.flows[*flow].packet).max();
            let arrivals = path.clone().map(comes).collect();
            Flow { class, path, arrivals, packet: packet.unwrap_or_default() }
        };
        // A joint curve of some of the flows that are merged here is none of the merged flow.
        let group = |group: &Group| {
            let is_inside = |part: &usize| {
                parts[*part].iter().all(|flow| group.flows.binary_search(flow).is_ok())
            };
            let flows = (0..parts.len()).filter(is_inside).collect();
            Group { flows, ..group.clone() }
        };
        Tandem {
            servers: self.servers.clone(),
            flows: parts.iter().enumerate().map(flow).collect(),
            groups: self.groups.iter().map(group).filter(|group| !group.flows.is_empty()).collect(),
            shortest: self.shortest,
        }
    }

    /// The service curve of a server for all its traffic, store and forward included: except at the
    /// last server, a partly sent packet does not count before its last bit.
    pub(super) fn serves(&self, server: usize) -> Option<Curve> {
        let of = &self.servers[server];
        let service = of.service.as_ref()?;
        let late = exact_nanos(service.late.saturating_add(ROUNDING));
        let is_last = server + 1 == self.servers.len();
        let curve =
            if is_last { service.curve.clone() } else { lowered(&service.curve, of.packet) };
        Some(curve.shift(&late))
    }

    /// The joint arrival curve of some flows at a server.
    pub(super) fn comes(&self, flows: &[usize], server: usize) -> Vec<TokenBucket> {
        let mut rest = flows.to_vec();
        let mut parts = Vec::new();
        for group in self.groups.iter().filter(|group| group.server == server) {
            let (inside, outside): (Vec<usize>, Vec<usize>) =
                rest.iter().partition(|flow| group.flows.binary_search(flow).is_ok());
            if !inside.is_empty() {
                let mut joint = self.arrives_by_class(&inside, server);
                joint.extend(&group.arrival);
                parts.push(joint);
                rest = outside;
            }
        }
        parts.push(self.arrives_by_class(&rest, server));
        let mut joint = self.arrives_by_class(flows, server);
        joint.extend(lines::sum(parts.iter().map(Vec::as_slice)));
        undominated(joint)
    }

    /// The arrival curve of some flows at a server, from the curves of their classes alone.
    fn arrives_by_class(&self, flows: &[usize], server: usize) -> Vec<TokenBucket> {
        let mut classes: Vec<_> = flows.iter().map(|flow| &self.flows[*flow]).collect();
        classes.sort_by_key(|flow| flow.class);
        classes.dedup_by_key(|flow| flow.class);
        lines::sum(classes.iter().map(|flow| &flow.arrivals[server - flow.path.start][..]))
    }
}

/// A service curve as a delay and the minimum of stages `sigma + rho t` (pseudo-affine: Lenzini,
/// Martorini, Mingozzi, Stea 2006), in floating-point numbers; nowhere above the curve.
pub(super) struct Stages {
    pub delay: Exact,
    pub stages: Vec<(Exact, Exact)>,
}

impl Stages {
    pub(super) fn from_curve(curve: &Curve) -> Option<Stages> {
        let begins = |piece: &&Piece| !piece.slope.is_zero() || !piece.value.is_zero();
        let first = curve.pieces().iter().position(|piece| begins(&piece))?;
        let pieces = &curve.pieces()[first..];
        let falls = |pair: &[Piece]| {
            let goes_on = &pair[0].value + &pair[0].slope * (&pair[1].start - &pair[0].start);
            pair[1].slope <= pair[0].slope && goes_on == pair[1].value
        };
        if pieces.windows(2).all(falls) {
            let delay = pieces[0].start.clone();
            let stage = |piece: &Piece| {
                (&piece.value - &piece.slope * (&piece.start - &delay), piece.slope.clone())
            };
            let stages = pieces.iter().map(stage).collect();
            return Some(Stages { delay, stages });
        }
        let below = curve.greatest_convex_minorant();
        let last = below.pieces().last()?;
        if last.slope <= Exact::zero() {
            return None;
        }
        let delay = (&last.start - &last.value / &last.slope).max(Exact::zero());
        Some(Stages { delay, stages: [(Exact::zero(), last.slope.clone())].to_vec() })
    }
}

/// The line of a concave curve that counts in the long run: the burst and the rate.
pub(super) fn long_run(arrival: &Curve) -> (Exact, Exact) {
    let last = arrival.pieces().last().expect("curves have pieces");
    (&last.value - &last.slope * &last.start, last.slope.clone())
}
