//! The plans of the experiments.

use laxity_plan::Plan;
use laxity_plan::network::NetworkPlan;

pub(super) const SCENARIOS: [(&str, &str); 2] = [
    ("1002-byte packets (Table I)", include_str!("../../../../papers/tdp/scenario-1.toml")),
    ("482-byte packets (Table II)", include_str!("../../../../papers/tdp/scenario-2.toml")),
];
pub(super) const BEST_EFFORT: &str = include_str!("../../../../papers/tdp/best-effort.toml");

/// A plan from its text.
pub(super) fn plan(text: &str) -> Plan {
    Plan::parse(text, "plan.toml", ".".as_ref()).expect("the paper's plans are valid")
}

/// The network of a plan.
pub(super) fn network_plan(plan: &Plan) -> NetworkPlan<'_> {
    plan.network_plan().expect("the paper's plans are networks")
}
