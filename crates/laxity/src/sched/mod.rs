//! One discipline a file or folder. A file holds the algorithm and nothing else; who counts and
//! measures is [`port`](crate::port).

mod droptail;
pub mod edf;
mod fifo;
#[cfg(test)]
mod tests;
mod wfq;

pub use droptail::{DropTail, Limit};
pub use edf::Edf;
pub use fifo::Fifo;
pub use wfq::Wfq;
