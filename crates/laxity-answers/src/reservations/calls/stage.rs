//! A link whose plan changes as calls come and go.

use std::collections::HashMap;
use std::sync::Arc;

use laxity::packet::ClassId;
use laxity_plan::Plan;
use laxity_plan::calls::{Call, PlanWithCalls};
use laxity_sim::link;

use super::{Calls, Change};

/// A plan whose classes come and go, inside one that has the classes of all calls.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever simulates")]
pub struct Stage {
    /// The plan with its requests.
    pub plan: Plan,
    /// What becomes of the calls.
    pub calls: Arc<Calls>,
    /// The plan that has the classes of all calls. Its sources send.
    pub outside: PlanWithCalls,
}

impl Stage {
    /// A plan with what becomes of its calls.
    pub fn new(plan: &Plan, calls: Arc<Calls>) -> Stage {
        let granted: Vec<Call> = calls.granted.iter().map(|granted| granted.call).collect();
        Stage { plan: plan.clone(), calls, outside: plan.with_calls(&granted) }
    }

    /// The plan that is followed from a change on, and the classes outside with those inside.
    pub fn followed(&self, change: &Change) -> (Plan, HashMap<ClassId, ClassId>) {
        let PlanWithCalls { plan, calls, others } = change.plan(&self.plan, &self.calls.granted);
        let calls = change.calls().map(|call| self.outside.calls[call]).zip(calls);
        let others = self.outside.others.iter().zip(others);
        let others = others.filter_map(|(outside, inside)| outside.zip(inside));
        (plan, calls.chain(others).collect())
    }

    /// The class in which packets go on whose own is gone: the last that is promised no delay.
    pub fn rest(followed: &Plan) -> Option<ClassId> {
        let unpromised = followed.leaves().filter(|(_, class)| class.relative_deadline().is_none());
        unpromised.map(|(id, _)| id).last()
    }

    /// One scheduler after another, each built when it is to be followed next.
    pub fn schedulers(
        stage: Arc<Stage>,
        seed: u64,
    ) -> impl Iterator<Item = link::Change> + Send + 'static {
        let mut number = 0;
        std::iter::from_fn(move || {
            let change = stage.calls.changes.get(number)?;
            number += 1;
            let (followed, classes) = stage.followed(change);
            let rest = Stage::rest(&followed);
            let scheduler = followed.build_scheduler(seed);
            Some(link::Change { at: change.at, scheduler, classes, rest })
        })
    }
}
