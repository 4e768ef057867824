//! What a plan promises, proved.

use std::ops::ControlFlow;

use laxity_answers::Reason;
use laxity_answers::link::{Admission, LinkProof};
use laxity_answers::network::{FramesProof, Limits, NetworkProof};
use laxity_plan::Plan;
use laxity_plan::model::{Assignment, SchedulerSpec};
use laxity_plan::parallel::on_all_cores;
use laxity_report::json::Json;
use laxity_report::words;
use laxity_sim::error::SimError;
use serde::{Serialize, Serializer};

use crate::Error;
use crate::sweep::{Listener, StudyProgress};

/// What is proved of a plan. It serialises to the JSON of `laxity check --json`.
#[derive(Clone, Debug)]
pub enum CheckResult {
    /// What is proved of one link.
    Link(Box<LinkProof>),
    /// What is proved of the outputs and paths of a network.
    Network(Box<NetworkProof>),
    /// What is proved of a network under time-driven priority.
    Frames(Box<FramesProof>),
}

/// Proves what can be proved of a plan.
///
/// # Errors
/// If the plan is a network without sources, so that paths are not known.
pub fn check(plan: &Plan) -> Result<CheckResult, Error> {
    let Some(network_plan) = plan.network_plan() else {
        return Ok(CheckResult::Link(Box::new(LinkProof::new(plan))));
    };
    if plan.sources.is_empty() {
        return Err(Error::question(
            "the plan has no [[source]], so it is not known who takes which path: add one with a `path`",
        ));
    }
    let on = network_plan.analysis();
    Ok(match &on.framing {
        Some(framing) => CheckResult::Frames(Box::new(FramesProof::new(framing))),
        None => CheckResult::Network(Box::new(NetworkProof::new(&on).with_stability(&on))),
    })
}

/// Whether everything that a plan promises holds; `None` if that is not known. It is what
/// [`check`] says, without what a class could change.
///
/// # Errors
/// As [`check`].
pub fn is_admitted(plan: &Plan) -> Result<Option<bool>, Error> {
    if plan.network_plan().is_some() {
        return Ok(check(plan)?.admitted());
    }
    Ok(Admission::test(plan).and_then(|admission| admission.admitted()))
}

impl CheckResult {
    /// Why the plan is admitted, refused or left open.
    pub fn reasons(&self) -> &[Reason] {
        match self {
            CheckResult::Link(proof) => &proof.reasons,
            CheckResult::Network(proof) => &proof.reasons,
            CheckResult::Frames(proof) => &proof.reasons,
        }
    }

    /// Whether everything that is promised holds; `None` if that is not known.
    pub fn admitted(&self) -> Option<bool> {
        laxity_answers::reason::admitted(self.reasons())
    }

    /// The reasons in a few sentences.
    pub fn statement(&self) -> String {
        words::statement(self.reasons())
    }
}

impl Serialize for CheckResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            CheckResult::Link(proof) => Json(&**proof).serialize(serializer),
            CheckResult::Network(proof) => Json(&**proof).serialize(serializer),
            CheckResult::Frames(proof) => Json(&**proof).serialize(serializer),
        }
    }
}

/// Seeks what each part of a network could be. Before every question `heard` gets the number of
/// parts and of those done, and may end the search.
///
/// # Errors
/// If the plan is no network of queues, has no sources, or `heard` ends the search.
pub fn limits(plan: &Plan, heard: Listener<'_>) -> Result<Limits, Error> {
    let CheckResult::Network(today) = on_all_cores(|| check(plan))? else {
        return Err(Error::question(
            "limits are of networks without time frames: `check` says on one link what a class could change, and \
             `tune` finds what a link needs",
        ));
    };
    let watch = |runs, done| -> ControlFlow<()> { heard(StudyProgress { runs, done }) };
    Ok(Limits::new(plan, &today, &watch).ok_or(SimError::Stopped)?)
}

/// A plan that leaves out as few flows as can be, by an exact solver, where its discipline assigns
/// frames.
pub fn exactly(plan: Plan) -> Plan {
    match plan.scheduler {
        SchedulerSpec::Tdp(spec) => {
            let spec = SchedulerSpec::Tdp(laxity_plan::model::TdpSpec {
                assignment: Assignment::Exact,
                ..spec
            });
            Plan { scheduler: spec, ..plan }
        }
        _ => plan,
    }
}
