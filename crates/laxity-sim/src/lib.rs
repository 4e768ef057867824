//! Laxity's discrete-event simulator: the schedulers of the `laxity` crate under a simulated
//! clock, fed by traffic models or recordings.
#![deny(missing_docs)]

pub mod calendar;
pub mod engine;
pub mod error;
pub mod fit;
pub mod network;
pub mod record;
pub mod series;
pub mod source;
pub mod summary;
pub mod tcp;
pub mod trace;
pub mod windows;
