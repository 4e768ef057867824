//! What the bounds of routes are made of, hop by hop.

use laxity::admit::network::{Bound, Method};
use laxity::admit::path::{Hop as Guarantee, once_breakdown};
use laxity::admit::{Breakdown, Source, Term};
use laxity::units::Nanos;

use super::analysis::{Analysis, Goal};
use super::end_to_end::EndToEnd;
use super::{Paths, Route, RouteId};
use crate::network::NetworkPlan;

/// A route's bound as a sum.
#[derive(Clone, Debug)]
pub struct RouteBreakdown {
    /// The least of its bounds, and the method that found it.
    pub bound: Bound,
    /// What each output and the link behind it take, in the order of the path.
    pub hops: Vec<Breakdown>,
    /// What is of no single hop: where bursts are paid once, the packets before one of the class.
    /// Where a method that takes hops together finds less than all terms, the last term says by how
    /// much. Such a bound is not split: it is no sum.
    pub path: Breakdown,
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
    fn route_breakdown(&self, paths: &Paths, id: RouteId) -> Option<RouteBreakdown> {
        let route = &paths.routes[id.index()];
        let bound = route.least().ok()?;
        let outputs = route.outputs.iter();
        let hops = outputs.map(|output| self.breakdown(*output, route.class));
        let hops = hops.collect::<Option<Vec<_>>>()?;
        let is_once = bound.method == Method::Once;
        let once = is_once.then(|| self.bursts_once(route, id, &hops)).flatten();
        let (mut hops, mut path) = once.unwrap_or((hops, Breakdown::default()));
        for (hop, breakdown) in route.path.iter().zip(&mut hops) {
            let link = self.on.network.link(*hop);
            breakdown.add(Source::Propagation, link.delay);
            breakdown.add(Source::Jitter, link.most_jitter()?);
        }
        path.add(Source::Passed, EndToEnd::new(self, id).held().ok()?);
        let terms = hops.iter().chain([&path]).flat_map(|part| &part.terms);
        let nanos = i128::from(bound.delay.0) - terms.map(|term| term.nanos).sum::<i128>();
        if nanos != 0 {
            path.terms.push(Term { source: Source::Method, bytes: None, nanos });
        }
        Some(RouteBreakdown { bound, hops, path })
    }

    /// Where bursts are paid once: what each hop adds, and what all take together. `None` if
    /// packets are held on the way.
    fn bursts_once(
        &self,
        route: &Route,
        id: RouteId,
        hops: &[Breakdown],
    ) -> Option<(Vec<Breakdown>, Breakdown)> {
        let whole = EndToEnd::new(self, id);
        let tandem = whole.tandem_alone()?;
        let flow = &tandem.flows[0];
        let guarantees = tandem.servers.iter();
        let guarantees = guarantees
            .map(|server| Guarantee { delay: server.delay, service: server.service.clone() });
        let guarantees: Vec<_> = guarantees.collect();
        let rates = route.path.iter().map(|hop| self.on.plan.link_at(*hop).rate);
        let (path, late) =
            once_breakdown(&flow.arrivals[0], flow.packet, &guarantees, rates.min()?)?;
        let hops = hops.iter().zip(late).enumerate().map(|(place, (hop, late))| {
            // Jitter is a term of its own.
            let jitter = whole.jitter_of_server(place).unwrap_or_default();
            beside_service(hop, late.saturating_sub(jitter))
        });
        Some((hops.collect(), path))
    }
}

/// What a hop adds to the service of all hops together, which is this long: its terms but those of
/// the class's own packets, which that service has.
fn beside_service(hop: &Breakdown, late: Nanos) -> Breakdown {
    let is_own = |term: &Term| matches!(term.source, Source::Own | Source::Share | Source::Elapsed);
    let sum = |terms: &[Term]| terms.iter().map(|term| term.nanos).sum::<i128>();
    let rest: Vec<_> = hop.terms.iter().filter(|term| !is_own(term)).copied().collect();
    let late = i128::from(late.0);
    // Departures are at whole nanoseconds.
    let terms =
        [rest, hop.terms.clone()].into_iter().find(|terms| (0..=1).contains(&(late - sum(terms))));
    let mut breakdown = Breakdown { terms: terms.unwrap_or_default() };
    let source = if breakdown.terms.is_empty() { Source::Latency } else { Source::Rounding };
    let left = late - sum(&breakdown.terms);
    breakdown.add(source, Nanos(u64::try_from(left).unwrap_or_default()));
    breakdown
}
