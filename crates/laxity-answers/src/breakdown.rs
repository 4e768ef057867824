//! What bounds are made of, and how much of it the slowest packet of a run used.

mod usage;

use laxity::admit::network::Method;
use laxity::admit::{Breakdown, Source, Term, Unbounded as NoBound};
use laxity::packet::ClassId;
use laxity::units::{Bytes, Nanos};
use laxity_plan::Plan;
use laxity_plan::model::Hop;
use laxity_plan::paths::RouteId;
use laxity_plan::tdp::{FramedBound, NetworkAnalysis};

use crate::reason::Unbounded;
use crate::why::{PacketDelay, Part};

pub use usage::SlowestPackets;

/// The bound of a class on one link, or along one of its paths.
#[derive(Clone, Debug)]
pub struct ClassBound {
    /// The class.
    pub class: ClassId,
    /// The links of the path; none on one link.
    pub path: Vec<Hop>,
    /// What the bound is made of, or why there is none.
    pub sum: Result<BoundSum, Unbounded>,
    /// The slowest packet of a run, if any was sent that keeps to the class's arrival curve.
    pub slowest: Option<SlowestPacket>,
    /// By place on the path, what time frames the packets have there; empty without time frames.
    frames: Vec<FramePlace>,
}

/// A bound as a sum.
#[derive(Clone, Debug)]
pub struct BoundSum {
    /// The bound: the sum of all terms.
    pub bound: Nanos,
    /// The method that finds it, over a path of a network.
    pub method: Option<Method>,
    /// The terms, hop by hop.
    pub terms: Vec<BoundTerm>,
}

/// A term of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundTerm {
    /// The place on the path of the link that the term is about, if it is about one.
    pub place: Option<usize>,
    /// What takes the time.
    pub source: Source,
    /// The bytes that are sent in it, where it is about bytes.
    pub bytes: Option<Bytes>,
    /// The time, in ns. It is negative where it shortens the bound.
    pub nanos: i128,
}

/// The slowest packet of a class along a path.
#[derive(Clone, Debug)]
pub struct SlowestPacket {
    /// The packet, and what delayed it.
    pub packet: PacketDelay,
    /// The number of packets that it is the slowest of.
    pub of: u64,
    /// How much of each term it used, in their order.
    pub used: Vec<Nanos>,
    /// What delayed it beside all terms, with the place on the path.
    pub beside: Vec<(Option<usize>, Part)>,
}

/// Where a link stands in the time frames of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FramePlace {
    /// It has no frames.
    #[default]
    Outside,
    /// Packets wait there for their first frame. Whether it is also the last link of the stretch.
    Edge { is_last: bool },
    /// It forwards by frames.
    Inside { is_last: bool },
}

impl ClassBound {
    /// The bounds of a class of a plan: one on a link, and in a network one for each of its paths.
    pub fn all(plan: &Plan, network: Option<&NetworkAnalysis<'_>>, class: ClassId) -> Vec<Self> {
        let Some(on) = network else { return vec![ClassBound::on_link(plan, class)] };
        match &on.framing {
            Some(_) => vec![ClassBound::in_frames(on, class)],
            None => ClassBound::over_paths(on, class),
        }
    }

    fn on_link(plan: &Plan, class: ClassId) -> Self {
        let breakdown = plan.breakdown(class).and_then(|breakdown| {
            let bound = breakdown.bound().ok_or(NoBound::Unstable)?;
            Ok(BoundSum { bound, method: None, terms: at_place(None, breakdown).collect() })
        });
        let sum = breakdown.map_err(Unbounded::Link);
        ClassBound { class, path: Vec::new(), sum, slowest: None, frames: Vec::new() }
    }

    fn over_paths(on: &NetworkAnalysis<'_>, class: ClassId) -> Vec<Self> {
        let paths = on.paths();
        let is_asked = |route: &RouteId| {
            let route = &paths.routes[route.index()];
            route.class == class && !route.acks
        };
        let routes: Vec<_> = paths.route_ids().filter(is_asked).collect();
        let breakdowns = on.network_plan().breakdowns(paths, &routes);
        let bound = |(route, breakdown): (&RouteId, Option<_>)| {
            let route = &paths.routes[route.index()];
            let sum = breakdown.map(BoundSum::from_route).ok_or_else(|| {
                Unbounded::Path(route.bound().err().unwrap_or(NoBound::NoGuarantee.into()))
            });
            let path = route.path.to_vec();
            ClassBound { class, path, sum, slowest: None, frames: Vec::new() }
        };
        routes.iter().zip(breakdowns).map(bound).collect()
    }

    fn in_frames(on: &NetworkAnalysis<'_>, class: ClassId) -> Self {
        let path = on.plan.class_paths()[class.index()].to_vec();
        let mut frames = vec![FramePlace::Outside; path.len()];
        let mut sum = Err(Unbounded::Link(NoBound::NoGuarantee));
        if let Some(framing) = &on.framing {
            for (stretch, _) in framing.stretches(class) {
                for place in stretch.hops.clone() {
                    let is_last = place + 1 == stretch.hops.end;
                    let is_edge = place == stretch.hops.start;
                    frames[place] = if is_edge {
                        FramePlace::Edge { is_last }
                    } else {
                        FramePlace::Inside { is_last }
                    };
                }
            }
            match framing.bounds().remove(&class) {
                Some(Ok(bound)) => sum = Ok(BoundSum::from_frames(bound)),
                Some(Err(why)) => sum = Err(Unbounded::Frames(why)),
                None => {}
            }
        }
        ClassBound { class, path, sum, slowest: None, frames }
    }
}

impl BoundSum {
    fn from_route(route: laxity_plan::paths::RouteBreakdown) -> Self {
        let hops = route.hops.into_iter().enumerate();
        let mut terms: Vec<_> = hops.flat_map(|(place, hop)| at_place(Some(place), hop)).collect();
        terms.extend(at_place(None, route.path));
        BoundSum { bound: route.bound.delay, method: Some(route.bound.method), terms }
    }

    fn from_frames(bound: FramedBound) -> Self {
        let mut breakdown = Breakdown::default();
        breakdown.add(Source::Frame, bound.shaping);
        breakdown.add(Source::Forwarding, bound.transit);
        breakdown.add(Source::Beside, bound.beside);
        let terms = at_place(None, breakdown).collect();
        BoundSum { bound: bound.delay(), method: None, terms }
    }
}

fn at_place(place: Option<usize>, breakdown: Breakdown) -> impl Iterator<Item = BoundTerm> {
    let term = move |Term { source, bytes, nanos }| BoundTerm { place, source, bytes, nanos };
    breakdown.terms.into_iter().map(term)
}
