//! What a link was like in the last hour, day or week.

use serde::{Deserialize, Serialize};

use super::MomentStatus;

/// How far back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "a history has these three")]
pub enum PastSpan {
    /// An hour, by seconds.
    Hour,
    /// A day, by ten seconds.
    Day,
    /// A week, by minutes.
    Week,
}

/// What classes got in that time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct PastStatus {
    /// How far back.
    pub span: PastSpan,
    /// The end of it, in seconds of 1970.
    pub until_s: u64,
    /// How many seconds a point is of.
    pub width_s: u64,
    /// The classes of all directions.
    pub classes: Vec<PastClass>,
    /// When promises were in danger, the last first.
    pub moments: Vec<PastMoment>,
}

/// A moment of a direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct PastMoment {
    /// The direction.
    pub way: String,
    /// The moment.
    #[serde(flatten)]
    pub moment: MomentStatus,
}

/// What a class got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct PastClass {
    /// The direction.
    pub way: String,
    /// The class.
    pub name: String,
    /// What it got, the oldest first. Nothing is there of times in which nothing was recorded.
    pub points: Vec<PastPoint>,
}

/// What a class got in a part of that time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct PastPoint {
    /// When it began, in seconds of 1970.
    pub at_s: u64,
    /// Bits a second, over the time that was recorded.
    pub rate_bps: f64,
    /// Packets that were sent.
    pub packets: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// The delay that 99 of 100 packets did not exceed, in ns, in the worst of its seconds; 0
    /// without packets.
    pub p99_ns: u64,
    /// The largest delay in ns; 0 without packets.
    pub max_ns: u64,
    /// The proved delay in ns, the largest if it changed; 0 without one.
    pub bound_ns: u64,
}

impl PastSpan {
    /// All of them.
    pub const ALL: [PastSpan; 3] = [PastSpan::Hour, PastSpan::Day, PastSpan::Week];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            PastSpan::Hour => "hour",
            PastSpan::Day => "day",
            PastSpan::Week => "week",
        }
    }

    /// How many seconds a slot of the file is of.
    pub fn width_s(self) -> u64 {
        match self {
            PastSpan::Hour => 1,
            PastSpan::Day => 10,
            PastSpan::Week => 60,
        }
    }

    /// How many slots it has.
    pub fn slots(self) -> u64 {
        match self {
            PastSpan::Hour => 3_600,
            PastSpan::Day => 8_640,
            PastSpan::Week => 10_080,
        }
    }
}
