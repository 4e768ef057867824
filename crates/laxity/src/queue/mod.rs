//! The ordered queues that schedulers are made of, each with its cost.

mod sorted_fifos;
mod winner_tree;

pub use sorted_fifos::SortedFifos;
pub use winner_tree::WinnerTree;
