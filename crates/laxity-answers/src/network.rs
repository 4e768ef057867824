//! What is proved of a network, what of it is promised, and what came of that.

mod frames;
mod limits;
mod promises;
pub(crate) use promises::tells_arrivals;
mod proof;

pub use frames::{FramesProof, FullFrame, ReservedClass, ReservedOutput, ReservedStretch};
pub use limits::{ClassLimit, Limits, LinkLimit, LoadLimit, Watch};
pub use proof::{HopProof, NetworkProof, OutputProof, PassingProof, PathProof};
