//! Fair queueing: every class is guaranteed a rate, and thereby a delay, for any traffic of other
//! classes. The delay is tied to the rate; H-FSC removes that tie.
//!
//! A class with the arrival curve A that is served at its rate g has the delay bound h(A, g t),
//! where h is the horizontal distance, plus a latency of the discipline. Only bounds of deficit
//! round robin also make use of the [arrival curves of others](Turn::kept).

mod blocking;
mod drr;
mod qfq;
mod wf2q;
mod wfq;

#[cfg(test)]
mod tests;

pub use drr::{Guarantee, Turn, drr, drr_breakdown, drr_guarantees};
pub use qfq::{Quick, qfq, qfq_breakdown, qfq_services};
pub(super) use wf2q::Latencies;
pub use wf2q::{Guarantees, Hierarchy, Member, Overbooking};
pub use wfq::{Weighted, wfq, wfq_breakdown, wfq_services};
