//! What fair queueing guarantees: every class a rate, and with it a delay, whatever the others do.
//! The delay is tied to the rate; that is what H-FSC does away with.
//!
//! All of these bounds hold for any arrivals of other classes, but for those of deficit round robin
//! that are shorter for what is [known](Turn::kept) of others. They are those of a class with the
//! arrival curve A that is served at its rate g, h(A, g t), where h is the horizontal distance, and
//! a time by which the discipline may be late.

mod blocking;
mod drr;
mod qfq;
mod wf2q;
mod wfq;

#[cfg(test)]
mod tests;

pub use drr::{Guarantee, Turn, drr, drr_guarantees};
pub use qfq::{Quick, qfq, qfq_services};
pub(super) use wf2q::Latencies;
pub use wf2q::{Guarantees, Hierarchy, Member, Overbooked};
pub use wfq::{Weighted, wfq, wfq_services};
