//! Classes and paths whose delays are bounded.

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::Hops;
use laxity_plan::paths::Route;
use laxity_plan::tdp::{Framing, NetworkAnalysis};

/// A link or a network.
pub enum Place<'a> {
    /// At one link.
    Link(&'a Plan),
    /// In a network.
    Network(&'a NetworkAnalysis<'a>),
}

/// A class, on a link or along a path, whose packets are delayed.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The class.
    pub class: ClassId,
    /// Its path; `None` on a link.
    pub path: Option<Hops>,
    /// The proved bound of its delay.
    pub bound: Nanos,
}

impl<'a> Place<'a> {
    /// The plan.
    pub fn plan(&self) -> &'a Plan {
        match self {
            Place::Link(plan) => plan,
            Place::Network(on) => on.plan,
        }
    }

    /// Every class, along every path, with a proved bound.
    pub fn targets(&self) -> Vec<Target> {
        match self {
            Place::Link(plan) => {
                let bounds = plan.bounds();
                let target = |(class, _): (ClassId, _)| {
                    let bound = bounds[class.index()].ok()?;
                    Some(Target { class, path: None, bound })
                };
                plan.leaves().filter_map(target).collect()
            }
            Place::Network(on) => {
                let framed = on.framing.as_ref().map(Framing::bounds);
                let routes = on.paths().routes.iter().filter(|route| !route.acks);
                let target = |route: &Route| {
                    let bound = match &framed {
                        Some(bounds) => bounds.get(&route.class)?.as_ref().ok()?.delay(),
                        None => route.bound().ok()?,
                    };
                    Some(Target { class: route.class, path: Some(route.path.clone()), bound })
                };
                routes.filter_map(target).collect()
            }
        }
    }
}
