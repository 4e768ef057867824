//! What is proved of a plan on one link.

use laxity::admit;
use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::Class;
use serde::Serialize;

use super::admission::{Admission, Test};
use super::cake::TinProof;
use super::class::ClassProof;
use super::dwcs::Windows;
use super::edf::{self, BestEffort};
use super::hfsc::{self, Residual, Trap};
use super::tester;
use crate::reason::{Finding, Reason, Span, admitted};

/// What is proved of a plan on one link, and what its classes could change.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LinkProof {
    /// The discipline, as `--scheduler` names it.
    pub scheduler: &'static str,
    /// Why the plan is admitted, refused or left open.
    #[serde(skip)]
    pub reasons: Vec<Reason>,
    /// The interval in which capacity is tightest; absent where the test has none.
    pub binding: Option<Span>,
    /// The sum of the real-time curves of H-FSC in the long run, in bits per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_run_bps: Option<u64>,
    /// What DWCS needs, and which streams to leave out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows: Option<Windows>,
    /// What the tins of CAKE are sure of; absent under other disciplines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tins: Vec<TinProof>,
    /// The classes that the discipline knows.
    pub classes: Vec<ClassProof>,
    /// What is left for best effort; absent if that is not known.
    pub best_effort: Option<BestEffort>,
    /// What H-FSC could promise besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Residual>,
    /// What H-FSC's curves do that their author may not expect.
    #[serde(skip)]
    pub traps: Option<Vec<Trap>>,
}

impl LinkProof {
    /// What the plan's discipline proves of it.
    pub fn new(plan: &Plan) -> LinkProof {
        let scheduler = plan.scheduler.name();
        let Some(Admission { reasons, bounds, test }) = Admission::test(plan) else {
            let reasons = vec![Reason::whole(Finding::NoTest { scheduler })];
            return LinkProof::from_bounds(plan, reasons, &plan.bounds());
        };
        let mut proof = LinkProof::from_bounds(plan, reasons, &bounds);
        match test {
            Test::Edf(test) => {
                proof.binding = test.binding.map(Span::from);
                proof.best_effort = Some(BestEffort::new(plan));
                edf::suggest(plan, &test, &mut proof.classes);
            }
            Test::Hfsc(test) => {
                proof.binding = test.binding.map(Span::from);
                proof.long_run_bps = Some(test.long_run.0);
                proof.left = Some(Residual::new(plan));
                proof.traps = Some(Trap::all(plan));
                hfsc::suggest(plan, &test, &mut proof.classes);
            }
            Test::Dwcs(test) => proof.windows = Some(Windows::new(plan, &test)),
            Test::Bounds => proof.tins = TinProof::all(plan),
        }
        proof
    }

    fn from_bounds(
        plan: &Plan,
        reasons: Vec<Reason>,
        bounds: &[Result<Nanos, admit::Unbounded>],
    ) -> LinkProof {
        let mut classes = classes(plan, bounds);
        (tester(plan).classes)(plan, &mut classes);
        LinkProof { scheduler: plan.scheduler.name(), reasons, classes, ..LinkProof::default() }
    }

    /// Whether everything that is promised holds; `None` if that is not known.
    pub fn admitted(&self) -> Option<bool> {
        admitted(&self.reasons)
    }
}

/// The classes that a discipline knows: the leaves, and those above where it has levels.
fn classes(plan: &Plan, bounds: &[Result<Nanos, admit::Unbounded>]) -> Vec<ClassProof> {
    let has_levels = plan.scheduler.room().has_levels;
    let known = |class: &Class| has_levels || class.is_leaf();
    let numbered = (0..).map(ClassId).zip(plan.classes.iter().zip(bounds));
    // Of the right size at once: there may be a million.
    let mut classes = Vec::with_capacity(plan.classes.iter().filter(|class| known(class)).count());
    classes.extend(numbered.filter(|(_, (class, _))| known(class)).map(|(id, (class, bound))| {
        ClassProof {
            parent: class.parent.map(|parent| plan.classes[parent.index()].name.clone()),
            ..ClassProof::new(id, class, *bound)
        }
    }));
    classes
}
