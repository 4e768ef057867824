//! Traffic that keeps to the contracts of a plan and does as much harm as can be found.
//!
//! [`worst::longest`] drives traffic towards the longest delay of a class, over a link or along a
//! path of a network, and gives that with the packets that bring it about: a lower bound of what
//! can happen, beside the upper bound that is proved.
#![deny(missing_docs)]

mod align;
pub mod arrival;
pub mod contract;
mod senders;
mod target;
pub mod traffic;
mod trial;
pub mod worst;

/// The generator of all random draws.
pub type Generator = rand_pcg::Pcg64Mcg;
