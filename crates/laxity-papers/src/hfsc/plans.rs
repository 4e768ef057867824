//! The plans of the experiments.

use laxity_plan::Plan;

pub const DELAY: &str = include_str!("../../../../papers/hfsc/plan.toml");
pub const LINK_SHARING: &str = include_str!("../../../../papers/hfsc/link-sharing.toml");
pub const DECOUPLING: &str = include_str!("../../../../papers/hfsc/decoupling.toml");
pub const PUNISHMENT: &str = include_str!("../../../../papers/hfsc/punishment.toml");
pub const CONFLICT: &str = include_str!("../../../../papers/hfsc/conflict.toml");

/// A plan from its text.
pub fn read(plan: &str) -> Plan {
    Plan::parse(plan, "plan.toml", ".".as_ref()).expect("the paper's plans are valid")
}
