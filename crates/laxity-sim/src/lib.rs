//! Laxity's discrete-event simulator: the schedulers of the `laxity` crate under a simulated
//! clock, fed by traffic models or recordings.
#![deny(missing_docs)]

use std::ops::ControlFlow;

use laxity::units::Nanos;

pub mod calendar;
pub mod engine;
pub mod error;
pub mod fit;
pub mod network;
pub mod record;
pub mod replay;
pub mod series;
pub mod source;
pub mod summary;
pub mod tcp;
pub mod trace;
pub mod windows;

/// Called with the simulated time now and then; says whether to go on.
pub type Progress<'a> = &'a mut dyn FnMut(Nanos) -> ControlFlow<()>;

/// The progress of a run that nobody stops.
pub fn to_the_end(_: Nanos) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
