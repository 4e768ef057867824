//! The plans of the experiments.

use laxity_plan::Plan;

pub(super) const DELAY: &str = include_str!("../../../../papers/hfsc/plan.toml");
pub(super) const LINK_SHARING: &str = include_str!("../../../../papers/hfsc/link-sharing.toml");
pub(super) const DECOUPLING: &str = include_str!("../../../../papers/hfsc/decoupling.toml");
pub(super) const PUNISHMENT: &str = include_str!("../../../../papers/hfsc/punishment.toml");
pub(super) const CONFLICT: &str = include_str!("../../../../papers/hfsc/conflict.toml");

/// A plan from its text.
pub(super) fn read(plan: &str) -> Plan {
    Plan::parse(plan, "plan.toml", ".".as_ref()).expect("the paper's plans are valid")
}
