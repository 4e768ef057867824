//! stub
#![deny(missing_docs)]

mod cache;
mod checksum;
mod classify;
mod error;
mod event;
mod forwarder;
mod key;
pub mod ledger;
mod outlet;
mod police;
mod queued;
mod reload;
pub mod segment;

pub use cache::Found;
pub use classify::Sorter;
pub use error::Refusal;
pub use event::{Arrived, Dropped, Event, Sent, Sink};
pub use forwarder::{Draining, Forwarder, Frame, Settings};
