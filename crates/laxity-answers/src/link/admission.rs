//! The answer of a discipline's admission test.

use laxity::admit::{self, Unbounded};
use laxity::units::Nanos;
use laxity_plan::Plan;

use super::tester;
use crate::queue;
use crate::reason::{Reason, admitted};

/// The answer of a discipline's admission test on one link.
#[derive(Clone, Debug)]
pub struct Admission {
    /// Why the plan is admitted, refused or left open.
    pub reasons: Vec<Reason>,
    /// The delay bound of each class, by its number.
    pub bounds: Vec<Result<Nanos, Unbounded>>,
    /// The answer in the discipline's own terms.
    pub test: Test,
}

/// An answer in the terms of a discipline.
#[derive(Clone, Debug)]
pub enum Test {
    /// EDF's.
    Edf(admit::edf::Admission),
    /// H-FSC's.
    Hfsc(admit::hfsc::Admission),
    /// That of DWCS.
    Dwcs(admit::dwcs::Admission),
    /// Delay bounds alone.
    Bounds,
}

impl Admission {
    /// Asks the test of the plan's discipline, and whether queues hold what may wait. `None` if the
    /// discipline has no test.
    pub fn test(plan: &Plan) -> Option<Admission> {
        let mut admission = (tester(plan).test)(plan)?;
        admission.reasons.extend(queue::too_small(plan, &admission.bounds));
        Some(admission)
    }

    /// Whether everything that is promised holds, deadlines included; `None` if that is not known.
    pub fn admitted(&self) -> Option<bool> {
        admitted(&self.reasons)
    }
}
