//! What the admission tests of disciplines say of a plan on one link.

mod admission;
mod cake;
mod class;
mod dwcs;
mod edf;
mod fair;
mod hfsc;
mod proof;
mod suggestions;

use laxity_plan::Plan;
use laxity_plan::discipline::Kind;

use crate::reason::{Finding, Reason};

pub use admission::{Admission, Test};
pub use cake::TinProof;
pub use class::{ClassProof, CurveProof, StreamsProof};
pub use dwcs::Windows;
pub use edf::{BestEffort, Line};
pub use hfsc::{Burst, Residual, Trap, first_pieces};
pub use proof::LinkProof;

/// How the plans of a discipline are tested.
struct Tester {
    /// Asks its admission test.
    test: fn(&Plan) -> Option<Admission>,
    /// Whether the test may refuse a plan whose bounds all keep the promises.
    refuses_beyond_bounds: bool,
    /// Adds what the discipline gives to classes.
    classes: fn(&Plan, &mut [ClassProof]),
}

impl Tester {
    /// That of a discipline without an admission test for one link.
    const NONE: Tester =
        Tester { test: |_| None, refuses_beyond_bounds: false, classes: |_, _| {} };

    /// That of a link whose rate changes or which may be late, under a discipline with which
    /// nothing is proved then.
    const VARYING: Tester = Tester {
        test: |plan| {
            let reasons = vec![Reason::whole(Finding::VaryingRate)];
            Some(Admission { reasons, bounds: plan.bounds(), test: Test::Bounds })
        },
        ..Tester::NONE
    };
}

fn tester(plan: &Plan) -> &'static Tester {
    if plan.is_beyond_proof() { &Tester::VARYING } else { tester_of(plan.scheduler.kind()) }
}

fn tester_of(kind: Kind) -> &'static Tester {
    match kind {
        Kind::Fifo | Kind::FqCodel | Kind::DualPi2 | Kind::Tdp => &Tester::NONE,
        Kind::Wfq => &fair::WFQ,
        Kind::Wf2q => &fair::WF2Q,
        Kind::Drr => &fair::DRR,
        Kind::Qfq => &fair::QFQ,
        Kind::Priority => &fair::PRIORITY,
        Kind::Cake => &cake::TESTER,
        Kind::Hfsc => &hfsc::TESTER,
        Kind::Edf => &edf::TESTER,
        Kind::Dwcs => &dwcs::TESTER,
    }
}

/// Whether a discipline's test may refuse plans whose bounds all keep the promises.
pub(crate) fn refuses_beyond_bounds(kind: Kind) -> bool {
    tester_of(kind).refuses_beyond_bounds
}

/// Whether there is an admission test for a plan.
pub(crate) fn has_test(plan: &Plan) -> bool {
    plan.is_beyond_proof() || (tester(plan).test as usize) != (Tester::NONE.test as usize)
}

/// Why the admission test refuses a plan, apart from what its bounds say.
pub(crate) fn refusals_beyond_bounds(plan: &Plan) -> Vec<Reason> {
    let tester = tester(plan);
    if !tester.refuses_beyond_bounds {
        return Vec::new();
    }
    let admission = (tester.test)(plan);
    let mut reasons = admission.map_or(Vec::new(), |admission| admission.reasons);
    let is_bound =
        |finding: &Finding| matches!(finding, Finding::Late { .. } | Finding::Unbounded { .. });
    reasons.retain(|reason| reason.refuses() && !is_bound(&reason.finding));
    reasons
}
