//! A rate that is found, as it is shown.

use serde::{Deserialize, Serialize};

/// The rate of a direction that a controller finds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct RateStatus {
    /// How it is found.
    pub rule: String,
    /// The least rate, in bits a second.
    pub from_bps: u64,
    /// The highest rate, in bits a second.
    pub to_bps: u64,
    /// The rate now, in bits a second.
    pub rate_bps: u64,
    /// How long the last answer waited in queues, in ns.
    pub queueing_ns: u64,
    /// Answers of reflectors and echoes of TCP so far.
    pub answers: u64,
    /// Seconds in which all packets came within the bounds for the least rate and twice the delay
    /// that may stand behind the shaper.
    pub seconds_kept: u64,
    /// Seconds in which they did not.
    pub seconds_missed: u64,
    /// The last whole second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<RateSecondStatus>,
}

/// A second of a rate that is found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct RateSecondStatus {
    /// The least rate in it and the second before, in bits a second.
    pub least_bps: u64,
    /// The mean rate, in bits a second.
    pub mean_bps: u64,
    /// What was sent, in bits a second.
    pub sent_bps: u64,
    /// The longest wait in queues that an answer told of, in ns.
    pub queueing_ns: u64,
    /// Whether bounds held for the least rate; absent if no class that sent has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
}
