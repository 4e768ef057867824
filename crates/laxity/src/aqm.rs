//! Queue management: who gets in, in front of any scheduler.
//!
//! The classes of a scheduler belong to managed queues: each to one of its own, several or all to
//! one together, or to none. A queue's [`Policy`] decides by what is queued, or was queued on
//! average, which packets get in; the scheduler decides in which order they leave.

mod choke;
mod codel;
mod droptail;
mod fraction;
mod held;
mod managed;
mod pie;
mod queue;
mod red;
#[cfg(test)]
pub(crate) mod tests;

pub use choke::Choke;
pub use codel::CoDel;
pub(crate) use codel::{Controller, Fate};
pub use droptail::{DropTail, Limit};
pub use fraction::Fraction;
pub use managed::Managed;
pub use pie::Pie;
pub use queue::Policy;
pub use red::{Measure, Red, Spacing};
