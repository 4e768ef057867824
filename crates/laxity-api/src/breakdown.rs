//! What bounds are made of, and how much of it a run uses.

use std::cell::RefCell;

use laxity_answers::breakdown::{ClassBound, SlowestPackets};
use laxity_plan::Plan;
use laxity_plan::model::Network;
use laxity_sim::Progress;
use serde::{Serialize, Serializer};

use crate::run::AnalysedPlan;
use crate::why::{class_named, each_delay};
use crate::{Error, Traffic};

/// The name that stands for every class.
pub const ALL_CLASSES: &str = "all";

/// How many classes [`ALL_CLASSES`] stands for at most.
const MOST_CLASSES: usize = 200;

/// What the bounds of classes are made of; it serialises to the JSON of `laxity check --explain`.
#[derive(Debug)]
pub struct Breakdowns<'a> {
    plan: &'a Plan,
    /// One for each class on a link, and for each path of a class in a network.
    pub bounds: Vec<ClassBound>,
}

impl Breakdowns<'_> {
    /// As text: a table for each bound.
    pub fn text(&self) -> String {
        laxity_report::breakdown::text(self.plan, &self.bounds)
    }
}

impl Serialize for Breakdowns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(laxity_report::breakdown::json(self.plan, &self.bounds))
    }
}

/// Says what the bounds of classes are made of, by name or of [all](ALL_CLASSES). Where the plan
/// has sources it is simulated, to say how much of each term the slowest packets used.
///
/// # Errors
/// If there is no such class, if all are asked for and they are more than 200, or as
/// [`run`](crate::run()).
pub fn breakdown<'a>(
    plan: &'a Plan,
    classes: &[String],
    traffic: &Traffic<'_>,
    progress: Progress<'_>,
) -> Result<Breakdowns<'a>, Error> {
    let analysed = AnalysedPlan::new(plan);
    let mut asked = Vec::new();
    for name in classes {
        if name != ALL_CLASSES {
            asked.push(class_named(plan, name)?);
            continue;
        }
        asked.extend(plan.leaves().map(|(id, _)| id));
        if asked.len() > MOST_CLASSES {
            return Err(Error::question(format!(
                "the plan has {} classes: name those whose bounds are to be explained, as \
                 {MOST_CLASSES} are explained at most",
                asked.len()
            )));
        }
    }
    asked.sort_unstable();
    asked.dedup();
    let network = analysed.network.as_ref();
    let bounds = asked.iter().flat_map(|class| ClassBound::all(plan, network, *class));
    let mut bounds: Vec<_> = bounds.collect();
    if !plan.sources.is_empty() && !plan.network.as_ref().is_some_and(has_custom) {
        let slowest = RefCell::new(SlowestPackets::new(&mut bounds));
        let each = |packet| slowest.borrow_mut().add(packet);
        each_delay(plan, traffic, each, progress)?;
        slowest.into_inner().finish();
    }
    Ok(Breakdowns { plan, bounds })
}

/// Whether an output is left to a scheduler of one's own, so that nothing can be simulated.
fn has_custom(network: &Network) -> bool {
    network.hops().any(|hop| network.is_custom(hop))
}
