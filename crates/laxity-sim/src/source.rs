//! Where packets come from: models, CSV files and captures.

mod arrival;
mod backlogged;
mod capture;
mod captured;
pub(crate) mod closed_loop;
mod copies;
mod csv;
mod feed;
mod frames;
mod from_plan;
mod greedy;
mod lengths;
pub(crate) mod links;
mod order;
mod paced;
mod recording;
mod sampling;
#[cfg(test)]
pub(crate) mod tests;

pub use laxity_plan::random;

pub use self::arrival::{Arrival, Arrivals, Introduction, Remarks};
pub use self::backlogged::Backlogged;
pub use self::captured::{CaptureReader, CapturedFrame};
pub use self::feed::Feed;
pub use self::lengths::Lengths;
pub use self::order::WINDOW;
pub use self::recording::{open_recording, open_source, read_recording};

pub(crate) use self::arrival::flows_of;
pub(crate) use self::feed::{FeedId, Stream};
pub(crate) use self::sampling::{sampled, sampler};
