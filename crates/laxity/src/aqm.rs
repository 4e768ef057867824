//! Queue management in front of any scheduler: which packets are let in.
//!
//! The classes of a scheduler belong to managed queues: each class to its own, several to one, or a
//! class to none. A queue's [`Policy`] decides by its present or average length which packets get
//! in; the scheduler decides the order in which they leave.

mod books;
mod candidates;
mod choke;
mod cobalt;
mod codel;
mod droptail;
mod fraction;
mod managed;
mod pie;
mod queue;
mod red;
#[cfg(test)]
pub(crate) mod tests;

pub use choke::Choke;
pub(crate) use cobalt::{Cobalt, CobaltState};
pub use codel::{CoDel, QueueMemory};
pub(crate) use codel::{Controller, Fate};
pub use droptail::{DropTail, Limit};
pub use fraction::Fraction;
pub use managed::ManagedScheduler;
pub use pie::Pie;
pub use queue::Policy;
pub use red::{Measure, Red, Spacing};
