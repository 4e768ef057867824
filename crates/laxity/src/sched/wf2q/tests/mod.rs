//! Against the definition, and the theorems.

mod dispatches;
mod guarantees;
mod reference;
pub(in crate::sched) mod trees;
