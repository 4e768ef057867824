//! What is proved of a network, what of it is promised, and what came of that.

mod frames;
mod limits;
mod promises;
mod proof;
mod verdict;

pub use frames::{FramesProof, FullFrame, ReservedClass, ReservedOutput, ReservedStretch};
pub use limits::{ClassLimit, Limits, LinkLimit, LoadLimit, Watch};
pub use proof::{HopProof, NetworkProof, OutputProof, PassingProof, PathProof};
