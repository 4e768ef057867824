//! Laxity's discrete-event simulator: the schedulers of the `laxity` crate under a simulated
//! clock, fed by traffic models or recordings.
#![deny(missing_docs)]

pub mod calendar;
pub mod error;
pub mod fit;
pub mod link;
pub mod network;
mod progress;
pub mod record;
pub mod replay;
pub mod series;
pub mod source;
pub mod summary;
pub mod tcp;
pub mod trace;
pub mod windows;

pub use progress::{Progress, ProgressPoint, to_the_end};
