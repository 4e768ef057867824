//! What a plan promises, proved.

use laxity_plan::Plan;
use laxity_plan::model::{Assignment, SchedulerSpec};
use laxity_report::admission::curves::CurveFigure;
use laxity_report::admission::{self, Admission, Answer};
use laxity_report::network;
use laxity_report::network::proof::Proof;
use laxity_report::network::tdp::TdpProof;
use serde::Serialize;

use crate::Error;

/// What is proved of a plan, in the form of `laxity check --json`.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Checked {
    /// Of one link.
    Link(Box<Answer>),
    /// Of the paths of a network.
    Network(Box<Proof>),
    /// Of a network of time-driven priority.
    Frames(Box<TdpProof>),
}

/// Proves what can be proved of a plan.
///
/// # Errors
/// If the plan is a network that nobody sends over, so that paths are not known.
pub fn check(plan: &Plan) -> Result<Checked, Error> {
    let Some(networked) = plan.networked() else {
        return Ok(Checked::Link(Box::new(Answer::of(plan))));
    };
    if plan.sources.is_empty() {
        return Err(Error::question(
            "the plan has no [[source]], so it is not known who takes which path: add one with a `path`",
        ));
    }
    let on = networked.assigned();
    Ok(match &on.framing {
        Some(framing) => Checked::Frames(Box::new(TdpProof::of(framing))),
        None => Checked::Network(Box::new(Proof::of(&on).with_stability(&on))),
    })
}

impl Checked {
    /// Whether everything that is promised holds; `None` if that is not known.
    pub fn admitted(&self) -> Option<bool> {
        match self {
            Checked::Link(answer) => answer.admitted,
            Checked::Network(proof) => proof.admitted,
            Checked::Frames(proof) => Some(proof.admitted),
        }
    }

    /// The same for people.
    pub fn text(&self, plan: &Plan) -> String {
        match self {
            Checked::Link(answer) => admission::text(answer, plan),
            Checked::Network(proof) => proof.text(plan),
            Checked::Frames(proof) => proof.text(plan),
        }
    }
}

/// The curves that the test of a plan's discipline compares, if it has any; of one link only.
pub fn curves(plan: &Plan) -> Option<CurveFigure> {
    if plan.networked().is_some() {
        return None;
    }
    Admission::of(plan)?.figure(plan)
}

/// Whether everything that is promised holds, if that is known, and why: the verdict of [`check`], without what
/// could be changed.
pub(crate) fn admission(plan: &Plan) -> (Option<bool>, Option<String>) {
    let Some(networked) = plan.networked() else {
        let admission = Admission::of(plan);
        return admission.map_or((None, None), |of| (of.admitted, Some(of.statement)));
    };
    let view = network::admission(&networked.assigned());
    (view.admitted, Some(view.statement))
}

/// A plan that leaves out as few flows as can be, by an exact solver, where its discipline assigns frames.
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
