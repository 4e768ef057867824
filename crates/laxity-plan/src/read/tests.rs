//! What is read, and every way in which a plan is refused.

mod accepted;
mod autorate;
mod cake;
mod hierarchies;
mod inside;
mod keys;
mod networks;
mod outside;
mod queues;
mod refused;
mod routing;
mod streams;
mod tdp;
mod threads;
mod topologies;
mod traces;
mod wires;

use std::path::Path;

use crate::{Plan, PlanError};

/// The plan of the reference, with one source of every model.
const PLAN: &str = include_str!("tests/plan.toml");

fn parse(text: &str) -> Result<Plan, PlanError> {
    Plan::parse(text, "plan.toml", Path::new("folder"))
}

/// The plan with its first `old` written as `new`.
fn with(old: &str, new: &str) -> Result<Plan, PlanError> {
    assert!(PLAN.contains(old), "{old}");
    parse(&PLAN.replacen(old, new, 1))
}
