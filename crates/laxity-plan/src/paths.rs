//! Paths over a network: what arrives at every output, and how long packets take from end to end.
//!
//! Outputs are analysed one after another, each behind all that feed it. What is known of a class
//! at an output is the least of two arrival curves. All of its packets have entered the network
//! under the class's own curve and come by now with some jitter. And they leave the outputs before
//! this one under curves that are known already. Its scheduler is set up for that and asked what it
//! guarantees.
//!
//! Where packets are held until they keep to the class's own curve again, they begin anew: what
//! comes there is under that curve, whatever happened before. So no output depends through a
//! regulator on those that feed it.
//!
//! With what is known at every output then, each path is looked at from end to end, by every method
//! of [`laxity::admit::network`].

mod analysis;
mod arrival;
mod book;
mod breakdown;
mod end_to_end;
mod fixed_point;
mod guarantees;
mod incremental;
mod outputs;
mod simplex;
mod stability;
mod tandem;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;

use laxity::admit::Unbounded;
use laxity::admit::network::{Bound, Method};
use laxity::admit::path;
use laxity::packet::ClassId;
use laxity::units::{Bytes, Nanos, Rate};

use crate::model::{Arrival, Hop, Hops, Plan, Police, Source, TokenBucket};
use crate::network::NetworkPlan;

use analysis::{Analysis, Goal};
pub use breakdown::RouteBreakdown;
pub use incremental::IncrementalAnalysis;
use outputs::Outputs;

laxity::id! {
    /// An output of a network: its position in [`Paths::outputs`].
    pub struct OutputId;
    /// A route of a network: its position in [`Paths::routes`].
    pub struct RouteId;
}

/// The outputs of a network and the paths through them, with what each guarantees.
#[derive(Clone, Debug)]
pub struct Paths {
    /// In the order in which sources' paths come to them.
    pub outputs: Vec<Output>,
    /// One for each class and path that sources have, in their order.
    pub routes: Vec<Route>,
    /// The outputs of cyclic dependencies: they feed one another.
    pub cyclic: Vec<OutputId>,
    numbers: HashMap<RouteKey, RouteId>,
    /// By class, whether it has a route.
    placed: Vec<bool>,
}

/// A class, its path, and whether its acknowledgements are meant.
type RouteKey = (ClassId, Hops, bool);

/// Where a node sends packets over a link.
#[derive(Clone, Debug)]
pub struct Output {
    /// The link, and in which direction.
    pub hop: Hop,
    /// The route that it belongs to, if the link is private: every flow of that has one to itself.
    pub private: Option<RouteId>,
    /// The classes that pass it, in their order.
    pub classes: Vec<ClassAtOutput>,
}

/// A class at an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassAtOutput {
    /// The class.
    pub class: ClassId,
    /// Its arrival curve there; `None` if that is not known.
    pub arrival: Option<Vec<TokenBucket>>,
    /// How long its packets take from their arrival there to their last bit out.
    pub bound: Result<Nanos, BoundError>,
}

/// A class's packets along one path.
#[derive(Clone, Debug)]
pub struct Route {
    /// The class.
    pub class: ClassId,
    /// The links.
    pub path: Hops,
    /// How many flows take it.
    pub flows: u32,
    /// Whether these are acknowledgements.
    pub acks: bool,
    /// The outputs on the way, one for each link of the path.
    pub outputs: Vec<OutputId>,
    /// At which of these packets are held until they keep to the class's arrival curve again, by
    /// their places.
    pub regulated: Vec<usize>,
    /// Bounds of the delay from end to end, propagation included, one for each method that applies.
    pub bounds: Result<Vec<Bound>, BoundError>,
    /// What the longest packet takes through the empty network.
    pub unloaded: Nanos,
}

/// Why there is no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoundError {
    /// The scheduler gives none.
    #[error("{}", said(*.0))]
    Output(#[from] Unbounded),
    /// Nothing is known of its cross traffic there.
    #[error("it waits behind a class of which nothing is known there")]
    UnknownCrossTraffic,
    /// An output before has no bound, so what comes of the class is not known.
    #[error("an output before has no bound")]
    UnboundedUpstream,
    /// A link delays its packets by times without a limit, or sends some twice.
    #[error("a link on the way delays packets without limit, or sends some twice")]
    Disturbed,
    /// The output is on a cycle of outputs that feed one another, and no delays were found that
    /// follow from themselves.
    #[error("the outputs feed one another in a circle, and what waits there may grow without end")]
    CyclicDependency,
}

impl BoundError {
    /// Its word for programs.
    pub const fn name(self) -> &'static str {
        match self {
            BoundError::Output(why) => why.name(),
            BoundError::UnknownCrossTraffic => "unknown-cross-traffic",
            BoundError::UnboundedUpstream => "unbounded-upstream",
            BoundError::Disturbed => "disturbed",
            BoundError::CyclicDependency => "cyclic-dependency",
        }
    }
}

fn said(why: Unbounded) -> String {
    match why {
        Unbounded::NoGuarantee => "nothing is guaranteed to it there".to_string(),
        why => why.to_string(),
    }
}

impl Route {
    /// Whether packets are held at an output, by its place on the way.
    fn is_regulated(&self, place: usize) -> bool {
        self.regulated.binary_search(&place).is_ok()
    }

    /// The way up to where packets that come to a place were last held; empty if they are as they
    /// entered.
    fn last_held(&self, place: usize) -> &[Hop] {
        let before = self.regulated.partition_point(|held| *held <= place);
        match before.checked_sub(1) {
            Some(last) => &self.path[..=self.regulated[last]],
            None => &[],
        }
    }

    /// The outputs between places where packets are held, by place.
    fn parts(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.regulated.iter().copied());
        let ends = self.regulated.iter().copied().chain([self.outputs.len()]);
        starts.zip(ends).map(|(start, end)| start..end)
    }

    /// The least of its bounds.
    pub fn bound(&self) -> Result<Nanos, BoundError> {
        Ok(self.least()?.delay)
    }

    /// The least of its bounds, with the method that found it: of several, the first.
    pub fn least(&self) -> Result<Bound, BoundError> {
        let bounds = self.bounds.as_ref().map_err(|why| *why)?;
        bounds.iter().min_by_key(|bound| bound.delay).copied().ok_or(BoundError::UnboundedUpstream)
    }

    /// What one of the methods found, if it applies.
    pub fn by(&self, method: Method) -> Option<Nanos> {
        let bounds = self.bounds.as_ref().ok()?;
        Some(bounds.iter().find(|bound| bound.method == method)?.delay)
    }
}

impl Output {
    /// A class at this output.
    pub fn class(&self, id: ClassId) -> Option<&ClassAtOutput> {
        let at = self.classes.binary_search_by_key(&id, |passing| passing.class).ok()?;
        Some(&self.classes[at])
    }

    /// Whether the arrival curve of any class is known here.
    pub fn knows_arrivals(&self) -> bool {
        self.classes.iter().any(|passing| passing.arrival.is_some())
    }

    /// The sum of the long-run rates of the arrival curves that are known.
    pub fn long_run(&self) -> Rate {
        let slowest = |passing: &ClassAtOutput| TokenBucket::slowest(passing.arrival.as_ref()?);
        let rates = self.classes.iter().filter_map(slowest).map(|line| line.rate.0);
        Rate(rates.fold(0, u64::saturating_add))
    }
}

impl NetworkPlan<'_> {
    /// The network's outputs, and the paths through them.
    pub fn paths(self) -> Paths {
        Analysis::new(self, Goal::Shortest).with_bounds()
    }

    /// The same before anything is analysed.
    fn outlined(self) -> Paths {
        // A limit without recordings; what is not needed is given back.
        let most = 2 * self.plan.sources.len();
        let mut paths = Paths {
            outputs: Vec::new(),
            routes: Vec::with_capacity(most),
            cyclic: Vec::new(),
            numbers: HashMap::with_capacity(most),
            placed: vec![false; self.plan.classes.len()],
        };
        Outputs::new(self, &mut paths).collect();
        paths.routes.shrink_to_fit();
        paths.numbers.shrink_to_fit();
        paths
    }
}

impl Plan {
    /// Which classes have an arrival curve where they enter the network: those with `arrival` and
    /// without TCP.
    pub(crate) fn knows_arrivals(&self) -> Vec<bool> {
        let mut knows: Vec<_> = self.classes.iter().map(|class| class.arrival.is_some()).collect();
        for source in &self.sources {
            if let Source::Tcp(source) = source {
                knows[source.class.index()] = false;
            }
        }
        knows
    }
}

impl Paths {
    /// The outputs, in their order.
    pub fn output_ids(&self) -> impl Iterator<Item = OutputId> + use<> {
        (0..self.outputs.len()).map(OutputId::from_index)
    }

    /// The routes, in their order.
    pub fn route_ids(&self) -> impl Iterator<Item = RouteId> + use<> {
        (0..self.routes.len()).map(RouteId::from_index)
    }

    /// The route of a class's packets, or acknowledgements, along a path.
    pub fn route(&self, class: ClassId, path: &[Hop], acks: bool) -> Option<RouteId> {
        self.numbers.get(&(class, path.into(), acks)).copied()
    }

    /// How long packets of each class take over each link that they pass, if it is known: of a
    /// private one, over any flow's.
    pub fn bounds(&self) -> HashMap<(Hop, ClassId), Option<Nanos>> {
        let mut bounds: HashMap<_, Option<Nanos>> = HashMap::new();
        for output in &self.outputs {
            for ClassAtOutput { class, bound, .. } in &output.classes {
                let worst = bounds.entry((output.hop, *class)).or_insert(Some(Nanos::ZERO));
                *worst = worst.and_then(|worst| Some(bound.ok()?.max(worst)));
            }
        }
        bounds
    }

    /// The plan as an output sees it: its link, the discipline there, and of each class what comes
    /// there, as far as it is known.
    pub fn plan_at(&self, on: NetworkPlan<'_>, output: OutputId) -> Plan {
        let output = &self.outputs[output.index()];
        let mut here = on.plan.at_hop(output.hop);
        let counts_on_others = here.scheduler.room().proof.counts_on_others;
        for (id, class) in (0..).map(ClassId).zip(&mut here.classes) {
            match (output.class(id), &mut class.arrival) {
                (Some(ClassAtOutput { arrival: Some(comes), .. }), Some(arrival)) => {
                    arrival.buckets.clone_from(comes);
                }
                // What entered the network says nothing of what comes here.
                (Some(_), Some(arrival)) if counts_on_others => arrival.buckets = Vec::new(),
                (Some(_), _) => {}
                (None, arrival) => {
                    let Arrival { packet, shortest, .. } = arrival.take().unwrap_or(Arrival {
                        buckets: Vec::new(),
                        packet: None,
                        shortest: None,
                    });
                    *arrival = Some(Arrival { buckets: vec![ABSENT], packet, shortest });
                    // One without paths comes nowhere in a simulation, and anywhere live: it keeps
                    // its share.
                    if self.placed[id.index()] {
                        class.police = Police::Drop;
                    }
                }
            }
        }
        here
    }

    /// Whether packets are held anywhere.
    fn is_regulated(&self) -> bool {
        self.routes.iter().any(|route| !route.regulated.is_empty())
    }

    /// The order in which outputs are analysed. Classes without arrival curves put them in none,
    /// and neither do those that are held to them in between.
    fn order(&self, knows: &[bool]) -> Order {
        Order::new(self.outputs.len(), &self.feeds(knows))
    }

    /// Pairs of outputs, sorted: the first feeds the second with packets of a class that has a
    /// known arrival curve.
    fn feeds(&self, knows: &[bool]) -> Vec<(OutputId, OutputId)> {
        let known = self.routes.iter().filter(|route| knows[route.class.index()]);
        let pairs = known.flat_map(|route| {
            let pairs = route.outputs.windows(2).zip(1..);
            let pairs = pairs.filter(|(_, place)| !route.is_regulated(*place));
            pairs.map(|(pair, _)| (pair[0], pair[1]))
        });
        let mut feeds: Vec<_> = pairs.collect();
        feeds.sort_unstable();
        feeds.dedup();
        feeds
    }
}

/// The order in which outputs are analysed.
#[derive(Clone)]
struct Order {
    /// Each behind all that feed it.
    forward: Vec<OutputId>,
    /// Those that feed one another.
    cyclic: Vec<OutputId>,
    /// Those behind cyclic ones, each behind all that feed it.
    behind: Vec<OutputId>,
}

impl Order {
    /// The order of `count` outputs; the first of each pair feeds the second.
    fn new(count: usize, feeds: &[(OutputId, OutputId)]) -> Self {
        let feeds: Vec<_> = feeds.iter().map(|(from, to)| (from.index(), to.index())).collect();
        let path::Order { forward, cyclic, behind } = path::Order::new(count, &feeds);
        let ids = |outputs: Vec<usize>| outputs.into_iter().map(OutputId::from_index).collect();
        Order { forward: ids(forward), cyclic: ids(cyclic), behind: ids(behind) }
    }
}

/// The arrival curve of a class at an output that it does not pass: no traffic.
const ABSENT: TokenBucket = TokenBucket { bucket: Bytes(0), rate: Rate(0) };
