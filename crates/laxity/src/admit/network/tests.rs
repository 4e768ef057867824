//! Tandems against simulated packets, and against what is published.

mod exact;
mod grid;
mod published;
mod simulated;

use alloc::vec;
use alloc::vec::Vec;

use microlp::{ComparisonOp, OptimizationDirection, Problem};

use super::programme::{Programme, Solver};
use super::*;
use crate::admit::arrival_curve;
use crate::admit::path::{Hop, aggregate, over_link};
use crate::curve::Curve;
use crate::units::Rate;

/// As plans have it.
pub(super) struct Simplex;

impl Solver for Simplex {
    fn minimise(&self, programme: &Programme) -> Option<Vec<f64>> {
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let variables: Vec<_> = programme
            .costs
            .iter()
            .map(|cost| problem.add_var(*cost, (0.0, f64::INFINITY)))
            .collect();
        for row in &programme.rows {
            let terms: Vec<_> = row.terms.iter().map(|(of, by)| (variables[*of], *by)).collect();
            problem.add_constraint(terms, ComparisonOp::Ge, row.at_least);
        }
        let solution = problem.solve().ok()?.into_solution().ok()?;
        Some(variables.iter().map(|variable| solution.var_value(*variable)).collect())
    }
}

/// Links in a row and flows of a class each: servers first..last, bucket, rate, packet.
#[derive(Clone, Debug)]
pub(super) struct Links {
    pub rates: Vec<Rate>,
    pub flows: Vec<(Range<usize>, TokenBucket, Bytes)>,
    /// The shortest packet of the first flow.
    pub shortest: Bytes,
}

impl Links {
    /// The tandem of first-in, first-out links, with what is known at each of them by total flow
    /// analysis.
    pub(super) fn tandem(&self) -> Option<Tandem> {
        let mut flows: Vec<_> = self
            .flows
            .iter()
            .enumerate()
            .map(|(class, (path, _, packet))| Flow {
                class,
                path: path.clone(),
                arrivals: Vec::new(),
                packet: *packet,
            })
            .collect();
        let (mut servers, mut groups) = (Vec::new(), Vec::new());
        let mut left: Vec<Option<Vec<TokenBucket>>> = vec![None; flows.len()];
        for (server, &rate) in self.rates.iter().enumerate() {
            let here: Vec<_> =
                (0..flows.len()).filter(|flow| flows[*flow].path.contains(&server)).collect();
            for &flow in &here {
                let entered = vec![self.flows[flow].1];
                let arrival = left[flow].take().unwrap_or(entered);
                flows[flow].arrivals.push(arrival);
            }
            let comes = |flow: &usize| flows[*flow].arrivals.last().unwrap().as_slice();
            let longest =
                |flows: &[usize]| flows.iter().map(|flow| self.flows[*flow].2).max().unwrap();
            let on: Vec<_> = here
                .iter()
                .copied()
                .filter(|flow| server > 0 && flows[*flow].path.contains(&(server - 1)))
                .collect();
            let service = Service { curve: Curve::line(rate), late: Nanos::ZERO };
            let mut all = arrival_curve(&aggregate(here.iter().map(comes)));
            if !on.is_empty() {
                let arrival = vec![over_link(self.rates[server - 1], longest(&on))];
                let together = arrival_curve(&aggregate(on.iter().map(comes)));
                let rest = here.iter().filter(|flow| !on.contains(flow)).map(comes);
                let rest: Vec<_> = rest.map(arrival_curve).collect();
                let mut parts = vec![arrival_curve(&arrival).minimum(&together)];
                parts.extend(rest);
                all = all.minimum(&Curve::sum(&parts));
                groups.push(Group { server, flows: on, arrival });
            }
            let delay = Curve::horizontal_distance(&all, &service.curve)?;
            let delay = crate::curve::ceil_nanos(&delay)?;
            for &flow in &here {
                let packet = self.flows[flow].2;
                let least = Nanos(rate.time_for(packet).0.saturating_sub(2));
                let hop = Hop { delay, service: None };
                let arrival = flows[flow].arrivals.last().unwrap();
                left[flow] = Some(hop.leaving(arrival, least, packet, rate));
            }
            let packet = longest(&here);
            let service = Some(service);
            let order = Order::Fifo;
            servers.push(Server { service, order, packet, delay, link_rate: Some(rate) });
        }
        let shortest = self.shortest;
        Some(Tandem { servers, flows, groups, shortest })
    }
}

pub(super) fn by(bounds: &[Bound], method: Method) -> Option<Nanos> {
    Some(bounds.iter().find(|bound| bound.method == method)?.delay)
}
