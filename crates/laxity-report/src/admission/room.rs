//! What every discipline says of its plans.

use laxity_plan::Plan;

use super::cells::Column;
use super::class::ClassAnswer;
use super::outcome::Admission;
use crate::quantity::TimeUnit;

/// What there is to say of plans under one discipline.
pub(super) struct Room {
    /// Asks its admission test; `None` if it has none.
    pub test: fn(&Plan) -> Option<Admission>,
    /// What it says beside the bounds that there are.
    pub tested: Tested,
    /// Adds what it gives to classes.
    pub classes: fn(&Plan, &mut [ClassAnswer]),
    /// The columns that it adds to the table, whose times have this unit.
    pub columns: fn(&[ClassAnswer], TimeUnit) -> Vec<Column>,
    /// What the columns of mends mean, where a plan is refused.
    pub mends: &'static str,
}

/// What an admission test says beside bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tested {
    /// There is no test.
    Not,
    /// It refuses what has no bounds, or longer ones than promised.
    ByBounds,
    /// It may refuse plans whose bounds are as promised.
    Beyond,
}

/// Of a discipline that has no admission test for plans on one link.
pub(super) const UNTESTED: Room = Room {
    test: |_| None,
    tested: Tested::Not,
    classes: |_, _| {},
    columns: |_, _| Vec::new(),
    mends: "",
};
