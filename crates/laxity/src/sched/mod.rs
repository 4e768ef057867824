//! One discipline a file or folder. A file holds the algorithm and nothing else; who counts and
//! measures is [`port`](crate::port).

mod ancestry;
mod drr;
pub mod dwcs;
pub mod edf;
mod fifo;
pub mod hfsc;
mod late;
mod pace;
#[cfg(test)]
pub(crate) mod tests;
mod wf2q;
mod wfq;

pub use drr::Drr;
pub use dwcs::Dwcs;
pub use edf::Edf;
pub use fifo::Fifo;
pub use hfsc::Hfsc;
pub use late::Late;
pub use wf2q::{Share, Wf2q};
pub use wfq::Wfq;
