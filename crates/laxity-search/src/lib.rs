//! An adversary: plans at the edge of what is admitted, and traffic that keeps its contracts and is
//! driven towards the bounds that are proved.
#![deny(missing_docs)]

pub mod broken_plan;
pub mod campaign;
pub mod case;
mod conforms;
pub mod discipline;
pub mod draft;
pub mod edge;
pub mod faults;
pub mod hill_climb;
pub mod judge;
pub mod plans;
mod police;
pub mod replay;
pub mod save;
pub mod shrink;
pub mod subject;
mod tdp;
pub mod testbed;

pub use laxity_adversary::Generator;
