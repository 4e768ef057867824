//! Whether a run kept what a plan promises. Terminal, JSON, HTML and exit code are made from the
//! same [`Verdict`].

mod broken;
pub mod live;
mod promised;

use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use laxity_sim::summary::Summary;
use serde::Serialize;

use crate::proof::Proof;
use crate::reason::Reason;

pub use broken::{BrokenPromise, Promise};
pub use live::LiveVerdict;
pub use promised::broken;
pub(crate) use promised::is_promised;

/// Whether a scheduler kept what a plan promises.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether nothing stands against the scheduler. A command ends with exit code 0 if all its
    /// verdicts say so, and with 1 otherwise.
    pub kept: bool,
    /// What the scheduler is held to.
    pub held_to: HeldTo,
    /// Whether the admission test admits the plan; absent without a test, and where it cannot tell.
    pub admitted: Option<bool>,
    /// The findings of the admission test; absent without a test.
    pub reasons: Option<Vec<Reason>>,
    /// Whether any class was promised a delay or windows.
    pub promised: bool,
    /// What was promised and not kept, in the plan's order.
    pub broken: Vec<BrokenPromise>,
}

/// What a scheduler is held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeldTo {
    /// All that the plan promises: it has to be admitted, and nothing may be missed.
    Plan,
    /// What is proved under it: a reference of a comparison, which may refuse the plan and be late.
    Proofs,
}

impl HeldTo {
    /// In a comparison the plan's `own` scheduler is held to the plan, and so are those that exist
    /// to keep promises. The others are there to be compared with.
    pub fn in_comparison(own: SchedulerSpec, compared: SchedulerSpec) -> HeldTo {
        if compared.room().is_held_to_promises || compared == own {
            HeldTo::Plan
        } else {
            HeldTo::Proofs
        }
    }
}

impl Verdict {
    /// Judges what was proved, promised, and found broken.
    pub fn new(
        held_to: HeldTo,
        proof: Option<&Proof>,
        promised: bool,
        broken: Vec<BrokenPromise>,
    ) -> Verdict {
        let admitted = proof.and_then(Proof::admitted);
        let kept = match held_to {
            HeldTo::Plan => admitted != Some(false) && broken.is_empty(),
            HeldTo::Proofs => !broken.iter().any(|broken| broken.proved),
        };
        let reasons = proof.map(|proof| proof.reasons().to_vec());
        Verdict { kept, held_to, admitted, reasons, promised, broken }
    }

    /// Whether the admission test does not admit the plan.
    pub fn is_refused(&self) -> bool {
        self.admitted == Some(false)
    }

    /// Whether more is found against the scheduler than it is held to.
    pub fn is_excused(&self) -> bool {
        self.held_to == HeldTo::Proofs
            && self.kept
            && (self.is_refused() || !self.broken.is_empty())
    }
}

/// What was measured, with its verdict.
#[derive(Clone, Debug)]
pub struct JudgedRun {
    /// What was measured.
    pub summary: Summary,
    /// Whether the promises were kept.
    pub verdict: Verdict,
}

impl JudgedRun {
    /// Judges the results of a plan with this proof, if there is one.
    pub fn new(plan: &Plan, held_to: HeldTo, proof: Option<&Proof>, summary: Summary) -> JudgedRun {
        let (promised, broken) = (is_promised(plan, &summary), broken(plan, &summary));
        JudgedRun { verdict: Verdict::new(held_to, proof, promised, broken), summary }
    }
}

/// The schedulers of a comparison, each with its verdict.
pub fn named(runs: &[JudgedRun]) -> Vec<(&str, &Verdict)> {
    runs.iter().map(|run| (run.summary.scheduler.as_str(), &run.verdict)).collect()
}
