//! What was measured of the windows of streams.

use laxity_plan::model::Class;
use serde::Serialize;

use crate::windows::ClassWindows;

/// The windows of a class's streams, packets counted in the order of their arrival.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WindowSummary {
    /// The tolerance, such as `1/80`.
    pub loss: String,
    /// How many alike streams the class has.
    pub streams: u32,
    /// Whether the admission test proves that no consecutive window is violated, and the streams
    /// were in step as the proof needs them.
    pub proved: bool,
    /// Packets that were sent or dropped.
    pub packets: u64,
    /// Those that were dropped or sent late.
    pub lost: u64,
    /// Complete windows, which slide: every packet of a stream from the length of its window on
    /// completes one.
    pub windows: u64,
    /// Windows in which more were lost than the tolerance allows.
    pub violations: u64,
    /// Complete windows that do not overlap, from a stream's first packet on.
    pub consecutive_windows: u64,
    /// Those in which more were lost than the tolerance allows.
    pub consecutive_violations: u64,
    /// The most consecutive packets of one stream that were lost.
    pub longest_run: u64,
    /// Deadlines that passed before their packet was begun, or dropped; with a `deadline` and no
    /// `gap`, packets that were late.
    pub deadline_misses: u64,
}

impl WindowSummary {
    /// What was counted of a class's windows; `None` if it has no tolerance.
    pub(crate) fn new(class: &Class, found: ClassWindows, proved: bool) -> Option<Box<Self>> {
        let loss = class.loss?;
        Some(Box::new(WindowSummary {
            loss: loss.to_string(),
            streams: class.count,
            proved,
            packets: found.counts.packets,
            lost: found.counts.lost,
            windows: found.counts.windows,
            violations: found.counts.violations,
            consecutive_windows: found.consecutive.windows,
            consecutive_violations: found.consecutive.violations,
            longest_run: found.counts.longest_run,
            deadline_misses: found.deadline_misses,
        }))
    }
}
