//! What a forwarder needs of Linux: frames in and out of interfaces, time, privilege.
#![cfg(target_os = "linux")]
#![deny(missing_docs)]
#![warn(clippy::exhaustive_enums)]

pub mod clock;
mod error;
pub mod frames;
pub mod interface;
pub mod namespace;
mod netlink;
pub mod packet;
pub mod priority;
mod sys;
pub mod wait;
pub mod xdp;

pub use error::Error;
