//! What the bounds of routes are made of, hop by hop.

use laxity::admit::network::Bound;
use laxity::admit::{Breakdown, Source};

use super::analysis::{Analysis, Goal};
use super::{Paths, RouteId};
use crate::network::NetworkPlan;

/// A route's bound as a sum.
#[derive(Clone, Debug)]
pub struct RouteBreakdown {
    /// The least of its bounds, and the method that found it.
    pub bound: Bound,
    /// What each output and the link behind it take, in the order of the path.
    pub hops: Vec<Breakdown>,
    /// The bound less the sum of all hops, in ns. Only a method that takes hops together finds less
    /// than their sum.
    pub together: i128,
}

impl NetworkPlan<'_> {
    /// What the bounds of routes are made of; `None` for a route without one. That analyses the
    /// network once more, as [`paths`](NetworkPlan::paths) does.
    pub fn breakdowns(self, paths: &Paths, routes: &[RouteId]) -> Vec<Option<RouteBreakdown>> {
        let analysis = Analysis::new(self, Goal::Shortest);
        routes.iter().map(|route| analysis.route_breakdown(paths, *route)).collect()
    }
}

impl Analysis<'_> {
    fn route_breakdown(&self, paths: &Paths, route: RouteId) -> Option<RouteBreakdown> {
        let route = &paths.routes[route.index()];
        let bound = route.least().ok()?;
        let hop = |(hop, output)| {
            let mut breakdown = self.breakdown(output, route.class)?;
            let link = self.on.network.link(hop);
            breakdown.add(Source::Propagation, link.delay);
            breakdown.add(Source::Jitter, link.most_jitter()?);
            Some(breakdown)
        };
        let outputs = route.path.iter().copied().zip(route.outputs.iter().copied());
        let hops = outputs.map(hop).collect::<Option<Vec<Breakdown>>>()?;
        let sum: i128 = hops.iter().flat_map(|hop| &hop.terms).map(|term| term.nanos).sum();
        let together = i128::from(bound.delay.0) - sum;
        Some(RouteBreakdown { bound, hops, together })
    }
}
