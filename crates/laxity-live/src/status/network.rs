//! What is more to be said of routers than of a link.

use serde::{Deserialize, Serialize};

/// Routers at one moment, beside what a link has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct NetworkStatus {
    /// The nodes of the plan that are run here.
    pub nodes: Vec<String>,
    /// Whether every packet that was in its frames everywhere kept its bound, and its jitter below
    /// two frames.
    pub kept: bool,
    /// The frames of time-driven priority, where that is the discipline.
    pub frames: Option<FramesStatus>,
    /// What classes got on the whole of their way, in the order of the classes of the way.
    pub classes: Vec<PassageStatus>,
}

/// The frames of time-driven priority at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct FramesStatus {
    /// How long one is.
    pub length_ns: u64,
    /// How many there were.
    pub passed: u64,
    /// In how many of them nobody sent at some port what was to be sent.
    pub skipped: u64,
    /// How often inputs got out of step since the start.
    pub out_of_step: u64,
    /// Packets and padding that came of no known frame since the start.
    pub unknown: u64,
}

/// What a class got between its first router here and its last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct PassageStatus {
    /// Its name.
    pub name: String,
    /// Packets that left after their frame somewhere, or without one; of classes that have frames.
    pub disturbed: Option<u64>,
    /// How much the time varied that packets took; absent when none left.
    pub jitter_ns: Option<JitterStatus>,
}

/// By how much packets took longer than the fastest one that was in its frames everywhere, in ns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct JitterStatus {
    /// 99 of 100 of them, at most.
    pub p99: u64,
    /// All of them.
    pub max: u64,
    /// Those that were in their frames everywhere; of classes that have frames.
    pub kept: Option<u64>,
}

impl PassageStatus {
    /// Why packets were dropped that left one router and did not come to the next.
    pub const LOST: &str = "lost";
}
