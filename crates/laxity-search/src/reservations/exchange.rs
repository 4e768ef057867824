//! What becomes of the calls of a draft, and the schedulers of the plans that follow.

use std::collections::HashMap;
use std::sync::Arc;

use laxity::admit::Service;
use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_answers::reservations::calls::{Calls, Rules, Stage};
use laxity_plan::Plan;
use laxity_plan::discipline::Growth;
use laxity_sim::link::{Change, Successive};

use super::draft::CallsDraft;
use crate::faults::CallsFault;

/// The most calls whose traffic is searched.
const MOST_CALLS: usize = 200;

/// What becomes of the calls of a draft.
#[derive(Clone)]
pub(super) struct Exchange {
    pub(super) stage: Arc<Stage>,
    /// The plans that follow one another, and the classes of each.
    pub(super) followed: Arc<Vec<Followed>>,
}

/// A plan that is followed from a time on.
pub(super) struct Followed {
    pub(super) at: Nanos,
    /// Its scheduler is built of this one.
    built: Plan,
    /// Classes outside and inside.
    pub(super) classes: HashMap<ClassId, ClassId>,
    rest: Option<ClassId>,
    /// What is proved of the plan, without a fault.
    pub(super) proved: Proved,
}

/// What the judge has of a plan.
pub(super) struct Proved {
    /// By class inside.
    pub(super) growths: Vec<Growth>,
    /// By class inside, how its bytes are served.
    pub(super) services: Vec<Option<Service>>,
}

impl Exchange {
    /// Lets the calls of a draft ask; `None` if the plan makes no sense or is refused, or too many
    /// calls come.
    pub(super) fn new(draft: &CallsDraft, fault: Option<&CallsFault>) -> Option<Exchange> {
        let plan = draft.plan()?;
        let rules = Rules::new(&plan);
        let rules = fault.map_or(rules, |fault| (fault.rules)(rules));
        let mut calls = Calls::draw_by(&plan, Nanos(draft.duration), 1, rules).ok()?;
        if calls.granted.is_empty() || calls.granted.len() > MOST_CALLS {
            return None;
        }
        if let Some(fault) = fault {
            calls.changes.iter_mut().for_each(|change| (fault.change)(change));
        }
        let stage = Arc::new(Stage::new(&plan, Arc::new(calls)));
        let followed = stage.calls.changes.iter().map(|change| {
            let (mut built, classes) = stage.followed(change);
            let rest = Stage::rest(&built);
            let proved = Proved { growths: built.growths(), services: built.services() };
            if let Some(fault) = fault {
                (fault.plan)(&mut built);
            }
            Followed { at: change.at, built, classes, rest, proved }
        });
        let followed = Arc::new(followed.collect());
        Some(Exchange { stage, followed })
    }

    /// The scheduler of all plans, one after another.
    pub(super) fn scheduler(&self) -> Option<Successive<impl Iterator<Item = Change> + use<>>> {
        let followed = Arc::clone(&self.followed);
        let changes = (0..followed.len()).map(move |number| {
            let Followed { at, built, classes, rest, .. } = &followed[number];
            let (classes, scheduler) = (classes.clone(), built.build_scheduler(1));
            Change { at: *at, scheduler, classes, rest: *rest }
        });
        Successive::new(changes, self.stage.plan.link.transmitter())
    }

    /// When calls ask, begin and end, and when they are no longer felt.
    pub(super) fn moments(&self) -> Vec<u64> {
        let calls = self.stage.calls.granted.iter();
        let calls = calls.flat_map(|granted| [granted.call.from.0, granted.call.until.0]);
        self.followed.iter().map(|followed| followed.at.0).chain(calls).collect()
    }
}
