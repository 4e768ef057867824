//! The ordered queues that disciplines are made of, each with its cost.
//!
//! Public are those that a scheduler outside of this crate needs, too: [`Fifos`], which share one
//! memory, and [`SortedFifos`], which know the least of their fronts. An item is taken out of the
//! middle by the [`Place`](crate::scheduler::Place) at which it was put in.

mod bitmap;
mod buckets;
mod eligible_set;
mod eligible_tree;
mod extremes;
mod fifos;
pub(crate) mod serial;
mod sorted_fifos;
mod tournament;
mod winner_tree;

pub(crate) use bitmap::Bitmap;
pub(crate) use eligible_set::EligibleSet;
pub(crate) use eligible_tree::EligibleTree;
pub(crate) use extremes::Extremes;
pub use fifos::{Fifos, Position};
pub use sorted_fifos::{Key, SortedFifos};
pub(crate) use tournament::{Order, Rank, Tournament};
pub(crate) use winner_tree::WinnerTree;

crate::id! {
    /// A slot of a set of requests, which holds one request at a time.
    pub(crate) struct SlotId;

    /// A seat of a [`Tournament`], which one player has at a time.
    pub(crate) struct SeatId;
}
