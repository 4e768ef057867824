//! An adversary: plans at the edge of what is admitted, and traffic that keeps its contracts and is
//! driven towards the bounds that are proved.
#![deny(missing_docs)]

pub mod campaign;
pub mod case;
pub mod discipline;
pub mod draft;
pub mod edge;
pub mod faults;
pub mod hill_climb;
pub mod plans;
pub mod replay;
pub mod reservations;
pub mod subject;
pub mod tandems;
pub mod testbed;

pub use laxity_adversary::Generator;
