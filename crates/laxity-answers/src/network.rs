//! What is proved of a network, what of it is promised, and what came of that.

mod frames;
pub(crate) mod limits;
mod promises;
pub(crate) use promises::tells_arrivals;
mod proof;

use laxity_plan::model::{Hop, Network};

pub use frames::{FramesProof, FullFrame, ReservedClass, ReservedOutput, ReservedStretch};
pub use limits::{ClassLimit, Limits, LinkLimit, LoadLimit, Watch};
pub use proof::{HopProof, NetworkProof, OutputProof, PassingProof, PathProof};

/// The names of the nodes along a path, from the sender to the receiver.
pub fn nodes(network: &Network, path: &[Hop]) -> Vec<String> {
    let ends = || path.iter().map(|hop| network.ends(*hop));
    let nodes = ends().take(1).map(|[from, _]| from).chain(ends().map(|[_, to]| to));
    nodes.map(str::to_owned).collect()
}
