//! Proofs, measurements and verdicts as data: no words, no tables, no pictures.
//!
//! | module | what it answers |
//! | --- | --- |
//! | [`link`] | what the admission test of a discipline says of a plan on one link |
//! | [`network`] | what is proved of the outputs and paths of a network, and of its time frames |
//! | [`reason`] | why a plan is admitted, refused or left open, with the numbers |
//! | [`queue`] | whether queues hold what may wait |
//! | [`verdict`] | whether a run kept what was promised |
//! | [`why`] | why packets were delayed, cause by cause |
//! | [`breakdown`] | what bounds are made of, and how much of it packets use |
//! | [`reservations`] | whether one more class may come while others are there, and for how long |
//! | [`advice`] | what to change in the plan of a live link |
//! | [`figure`], [`seeds`] | the figures of a run, and their means over several seeds |
//!
//! A [`Proof`] is admitted if no [`Reason`] in it refuses. The code that shows reasons turns them
//! into sentences.
#![deny(missing_docs)]

pub mod advice;
pub mod breakdown;
pub mod figure;
pub mod link;
pub mod network;
mod proof;
pub mod queue;
pub mod reason;
pub mod reservations;
pub mod seeds;
pub mod verdict;
pub mod why;
pub mod worst;

pub use proof::Proof;
pub use reason::{Effect, Finding, Place, Reason};
