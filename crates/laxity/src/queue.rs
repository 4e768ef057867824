//! The ordered queues that schedulers are made of, each with its cost.

mod bitmap;
mod buckets;
mod eligible_set;
mod eligible_tree;
mod extremes;
mod fifos;
pub mod serial;
mod sorted_fifos;
mod tournament;
mod winner_tree;

pub use bitmap::Bitmap;
pub use eligible_set::EligibleSet;
pub use eligible_tree::EligibleTree;
pub use extremes::Extremes;
pub use fifos::{Fifos, Withdrawn};
pub use sorted_fifos::SortedFifos;
pub use tournament::{Order, Rank, Tournament};
pub use winner_tree::WinnerTree;

crate::id! {
    /// A slot of a set of requests, which holds one request at a time.
    pub struct SlotId;
}
