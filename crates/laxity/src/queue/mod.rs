//! The ordered queues that schedulers are made of, each with its cost.

mod fifos;
mod winner_tree;

pub use fifos::Fifos;
pub use winner_tree::WinnerTree;
