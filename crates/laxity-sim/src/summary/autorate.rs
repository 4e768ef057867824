//! What was measured at an output whose rate is found.

use laxity::autorate::Second;
use serde::Serialize;

use super::DelaySummary;

/// A shaper whose rate is found, and the link behind it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AutorateSummary {
    /// How the rate is found.
    pub rule: &'static str,
    /// The least rate, in bits a second.
    pub from_bps: u64,
    /// The highest rate, in bits a second.
    pub to_bps: u64,
    /// The mean rate of the shaper; absent in a run of less than a second.
    pub mean_bps: Option<f64>,
    /// What left the link behind, of what it could have carried, 0 to 1.
    pub used: Option<f64>,
    /// Packets that found no room before the link behind.
    pub lost: u64,
    /// How long probes waited in queues.
    pub queueing_ns: Option<DelaySummary>,
    /// Seconds in which all packets came within the bounds for the least rate and twice the delay
    /// that may stand behind the shaper.
    pub seconds_kept: u64,
    /// Seconds in which they did not.
    pub seconds_missed: u64,
    /// Delays until packets left the link behind.
    pub classes: Vec<AutorateClass>,
    /// Every second of the run.
    #[serde(skip)]
    pub seconds: Vec<Second>,
    /// How many bytes the link behind could carry in each of them.
    #[serde(skip)]
    pub could: Vec<u64>,
}

/// The delays of a class from its arrival at the shaper until it left the link behind.
#[derive(Clone, Debug, Serialize)]
pub struct AutorateClass {
    /// The class.
    pub name: String,
    /// Its delays, in ns.
    pub delay_ns: Option<DelaySummary>,
}
