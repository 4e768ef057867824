//! What was measured at an output.

use serde::Serialize;

use super::{AutorateSummary, ClassSummary, is_zero};

/// One direction of a link; of all private links of that name together.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HopSummary {
    /// The link's name.
    pub link: String,
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// The discipline.
    pub scheduler: String,
    /// Bits a second.
    pub rate_bps: u64,
    /// The share of the measured time in which it was sending, 0 to 1; the mean of private links.
    pub utilization: f64,
    /// Packets that were lost under way.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost: u64,
    /// Packets that were copied under way. A copy counts at the outputs that it comes to.
    #[serde(skip_serializing_if = "is_zero")]
    pub duplicated: u64,
    /// The most memory that the scheduler held for queues and history, in bytes; absent in a
    /// network.
    #[serde(skip)]
    pub scheduler_bytes: Option<usize>,
    /// What happened to frames, under time-driven priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<FramesSummary>,
    /// What the controller of its rate did, if one finds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autorate: Option<AutorateSummary>,
    /// The classes that sent over it: delays from a packet's arrival at the node to its last bit
    /// out, propagation excluded.
    pub classes: Vec<ClassSummary>,
}

impl HopSummary {
    /// The name of its output, `from → to`.
    pub fn output(&self) -> String {
        format!("{} → {}", self.from, self.to)
    }
}

/// Frames of time-driven priority at one output and the input behind its link, over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FramesSummary {
    /// Padding packets that were sent.
    pub padding: u64,
    /// Reserved packets that ended after their frame.
    pub late: u64,
    /// Frames without any packet at the node behind.
    pub silent: u64,
    /// How often the node behind got out of step.
    pub losses: u64,
    /// Reserved packets that came while it was, and travelled on as best effort.
    pub unknown: u64,
}

impl FramesSummary {
    /// Adds the counts from the other end of the hop.
    pub(crate) fn plus(self, other: FramesSummary) -> FramesSummary {
        FramesSummary {
            padding: self.padding + other.padding,
            late: self.late + other.late,
            silent: self.silent + other.silent,
            losses: self.losses + other.losses,
            unknown: self.unknown + other.unknown,
        }
    }
}
