//! Arrival curves at the outputs of a network: what is known of a class there.

use std::collections::BTreeMap;

use laxity::admit::Unbounded;
use laxity::admit::path::{aggregate, coarsened, undominated, with_jitter};
use laxity::packet::ClassId;
use laxity::units::{Bytes, Nanos, Rate};

use super::analysis::{Analysis, least};
use super::{ABSENT, BoundError, OutputId, Route, RouteId};
use crate::model::{Hop, Police, TokenBucket};

/// Lines of an arrival curve: sums of many have as many, and where outputs feed one another they
/// would be more with every look.
const MOST_LINES: usize = 16;

impl Analysis<'_> {
    /// The arrival curve of a class at an output.
    pub(super) fn arrival(
        &self,
        number: OutputId,
        class: ClassId,
    ) -> Result<Vec<TokenBucket>, BoundError> {
        let spec = &self.on.plan.classes[class.index()];
        let entered = spec.arrival.as_ref().filter(|_| self.knows_arrivals[class.index()]);
        let entered = &entered.ok_or(Unbounded::NoArrival)?.buckets;
        if spec.police == Police::Demote {
            let at_link =
                self.on.plan.scheduling_at(self.paths.outputs[number.index()].hop).scheduler;
            let (_, scheduler) = self.on.plan.queued_under(at_link, class);
            spec.arrival_under(&scheduler).ok_or(Unbounded::Demotes)?;
        }
        let routes = || self.routes(number, class);
        // Those that were last held together kept to the curve there, as all kept to it together
        // where they entered. Since then they may have passed here before, and do so again.
        let mut together: BTreeMap<(&[Hop], usize), (Nanos, Nanos)> = BTreeMap::new();
        let (mut before, mut visit) = (None, 0);
        for (route, place) in routes() {
            let (least, most) = self.so_far[route.index()][place];
            let most = most.map_err(|why| match why {
                BoundError::Disturbed => BoundError::Disturbed,
                _ => BoundError::UnboundedUpstream,
            })?;
            let held = self.paths.routes[route.index()].last_held(place);
            let since = Some((route, held.len()));
            visit = if before == since { visit + 1 } else { 0 };
            before = since;
            let (shortest, longest) = together.entry((held, visit)).or_insert((least, most));
            (*shortest, *longest) = (least.min(*shortest), most.max(*longest));
        }
        let jitters = together.into_values().map(|(least, most)| most.saturating_sub(least));
        let mut lines = sum(jitters.map(|jitter| with_jitter(entered, jitter)).collect());
        let mut from: Vec<_> = routes()
            .map(|(route, place)| Origin::new(&self.paths.routes[route.index()], place))
            .collect();
        from.sort_unstable();
        from.dedup();
        let mut parts: Vec<Vec<TokenBucket>> = Vec::new();
        for from in from {
            match from {
                Origin::Host | Origin::Regulator(_) => parts.push(entered.clone()),
                // Nothing comes yet of an output that was not looked at, so that outputs that feed
                // one another are not found to ask for more at first than in the end.
                Origin::Output(output) => {
                    let leaving = self.leaving(output, number, class);
                    parts.push(leaving.unwrap_or_else(|| vec![ABSENT]));
                }
            }
        }
        lines.extend(aggregate(parts.iter().map(Vec::as_slice)));
        if let Some(jitters) = self.jitters_since_entry(number, class) {
            let later = jitters.into_iter().map(|jitter| with_jitter(entered, jitter));
            lines.extend(sum(later.collect()));
        }
        Ok(coarsened(undominated(lines), MOST_LINES))
    }

    /// The arrival curve of what leaves an output of a class for another; from private links that
    /// of all flows.
    pub(super) fn leaving(
        &self,
        from: OutputId,
        to: OutputId,
        class: ClassId,
    ) -> Option<Vec<TokenBucket>> {
        let (from, passages) = (&self.paths.outputs[from.index()], &self.passages[from.index()]);
        let at = from.classes.binary_search_by_key(&class, |passing| passing.class).ok()?;
        let jitter = self.on.network.link(from.hop).most_jitter()?;
        let one = with_jitter(&passages[at].as_ref()?.leaving, jitter);
        let flows = match (from.private, self.paths.outputs[to.index()].private) {
            (Some(route), None) => u64::from(self.paths.routes[route.index()].flows),
            _ => 1,
        };
        let times = |line: &TokenBucket| TokenBucket {
            bucket: Bytes(line.bucket.0.saturating_mul(flows)),
            rate: Rate(line.rate.0.saturating_mul(flows)),
        };
        Some(one.iter().map(times).collect())
    }

    /// The routes of a class that pass an output, and at which place.
    pub(super) fn routes<'b>(
        &'b self,
        number: OutputId,
        class: ClassId,
    ) -> impl Iterator<Item = (RouteId, usize)> + 'b {
        let of_class = move |at: &(RouteId, usize)| self.paths.routes[at.0.index()].class == class;
        self.passing[number.index()].iter().copied().filter(of_class)
    }

    /// How long packets take since they entered.
    ///
    /// Time that they are held is not in it. Behind what keeps their order no packet is held for
    /// longer. Elsewhere a regulator may hold a packet p for longer than D, the longest way up to
    /// there, and the curve `A(t + D - d)` of what leaves it, with the shortest way d, holds all
    /// the same: let p go on at s from a regulator that has been busy since b. What goes on within
    /// t from s on, and all that went on since b, entered within `t + s - b + D - d`. The second is
    /// at least `A(s - b) - l` with the length l of p. As A is concave and `A(0+) >= l`, that
    /// leaves at most `A(t + s - b + D - d) - A(s - b) + l <= A(t + D - d)`.
    pub(super) fn times_since_entry(&self) -> Vec<Vec<(Nanos, Option<Nanos>)>> {
        let of = |route: &Route| {
            let (mut shortest, mut most) = (Nanos::ZERO, Some(Nanos::ZERO));
            let mut times = vec![(shortest, most)];
            for (hop, output) in route.path.iter().zip(&route.outputs) {
                let link = self.on.network.link(*hop);
                let takes = least(self.on.plan, route.class, link.peak());
                shortest = shortest.saturating_add(takes).saturating_add(link.delay);
                let bound = self.paths.outputs[output.index()]
                    .class(route.class)
                    .and_then(|of| of.bound.ok());
                let added = || {
                    let jitter = link.most_jitter().filter(|_| link.duplicate.is_none())?;
                    Some(bound?.saturating_add(link.delay).saturating_add(jitter))
                };
                most = most.and_then(|most| Some(most.saturating_add(added()?)));
                times.push((shortest, most));
            }
            times
        };
        self.paths.routes[..self.so_far.len()].iter().map(of).collect()
    }

    /// By how much the times differ that a class's packets take since they entered up to an output,
    /// for each time that they pass it, if that is known.
    pub(super) fn jitters_since_entry(
        &self,
        number: OutputId,
        class: ClassId,
    ) -> Option<Vec<Nanos>> {
        let mut visits: Vec<(Nanos, Nanos)> = Vec::new();
        let (mut before, mut visit) = (None, 0);
        for (route, place) in self.routes(number, class) {
            let (least, most) = *self.since_entry.get(route.index())?.get(place)?;
            let most = most?;
            visit = if before.replace(route) == Some(route) { visit + 1 } else { 0 };
            match visits.get_mut(visit) {
                Some(times) => *times = (least.min(times.0), most.max(times.1)),
                None => visits.push((least, most)),
            }
        }
        Some(visits.into_iter().map(|(least, most)| most.saturating_sub(least)).collect())
    }
}

/// From where packets come to an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin<'a> {
    /// They enter the network.
    Host,
    /// Straight from the output before.
    Output(OutputId),
    /// Held to their arrival curve with all that come the same way.
    Regulator(&'a [Hop]),
}

impl<'a> Origin<'a> {
    /// From where a route comes to the output at a place of it.
    pub(super) fn new(route: &'a Route, place: usize) -> Self {
        match place.checked_sub(1) {
            _ if route.is_regulated(place) => Origin::Regulator(&route.path[..=place]),
            Some(before) => Origin::Output(route.outputs[before]),
            None => Origin::Host,
        }
    }
}

/// The arrival curve of the aggregate of these.
fn sum(mut parts: Vec<Vec<TokenBucket>>) -> Vec<TokenBucket> {
    match parts.len() {
        1 => parts.remove(0),
        _ => aggregate(parts.iter().map(Vec::as_slice)),
    }
}
