//! Frames in and out.
#![cfg(target_os = "linux")]
#![deny(missing_docs)]
#![warn(clippy::exhaustive_enums)]

pub mod clock;
mod error;
pub mod interface;
pub mod namespace;
mod netlink;
pub mod priority;
mod sys;
pub mod wait;

pub use error::Error;
