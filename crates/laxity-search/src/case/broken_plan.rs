//! A counterexample: a plan whose proof does not hold.

use laxity_adversary::arrival::Arrival;

use crate::draft::Draft;
use crate::testbed::judge::Violation;

/// A plan and packets that break what is proved of it.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokenPlan {
    /// The plan.
    pub draft: Draft,
    /// The packets.
    pub arrivals: Vec<Arrival>,
    /// The names of feeds that do not keep to their contracts.
    pub rogues: Vec<u16>,
    /// What they break.
    pub what: Violation,
}
