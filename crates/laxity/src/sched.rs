//! The disciplines, one per file or folder.
//!
//! A file holds the algorithm in the terms of its paper and nothing else. Statistics are kept by
//! [`port`](crate::port), queue limits by [`aqm`](crate::aqm), and delay bounds are proved in
//! `admit`.

mod ancestry;
pub mod cake;
mod drr;
pub mod dualpi2;
pub mod dwcs;
pub mod edf;
mod fifo;
pub mod fq_codel;
pub mod hfsc;
mod hierarchy;
mod late;
mod leaves;
pub(crate) mod pace;
pub mod pifo;
mod priority;
pub mod qfq;
pub mod tdp;
#[cfg(test)]
pub(crate) mod tests;
mod wf2q;
mod wfq;

pub use cake::Cake;
pub use drr::Drr;
pub use dualpi2::DualPi2;
pub use dwcs::Dwcs;
pub use edf::Edf;
pub use fifo::Fifo;
pub use fq_codel::FqCodel;
pub use hfsc::Hfsc;
pub use hierarchy::{Hierarchy, Leaf};
pub use late::Late;
pub use leaves::LeafQueues;
pub use pifo::Pifo;
pub use priority::Priority;
pub use qfq::Qfq;
pub use tdp::Tdp;
pub use wf2q::{Share, Wf2q};
pub use wfq::Wfq;
