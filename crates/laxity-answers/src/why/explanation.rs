//! What the page of a run shows of its delays.

use super::{Breakdown, DelaySink, PacketDelay, Timeline, TimelineRecorder, UnfinishedPacket};

/// Why the packets of a run waited, to be drawn.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// What delayed each class in all.
    pub breakdown: Breakdown,
    /// What links did, packet by packet.
    pub timeline: Timeline,
}

/// Makes the [`Explanation`] of a run from its delays.
#[derive(Debug)]
pub struct Explainer {
    breakdown: Breakdown,
    timeline: TimelineRecorder,
}

impl Explainer {
    /// An explainer of a run of as many classes. The timeline keeps at most `budget` packets at
    /// outputs, and those around the `slowest` packets of each class longest.
    pub fn new(budget: usize, slowest: usize, classes: usize) -> Self {
        Explainer {
            breakdown: Breakdown::new(classes),
            timeline: TimelineRecorder::new(budget, slowest, classes),
        }
    }

    /// Adds a packet that came to its end.
    pub fn add(&mut self, packet: &PacketDelay) {
        self.breakdown.add(packet);
        self.timeline.sent(packet);
    }

    /// Adds a packet that did not come to its end.
    pub fn add_unfinished(&mut self, packet: &UnfinishedPacket) {
        self.timeline.unfinished(packet);
    }

    /// The explanation, when the run is over.
    pub fn finish(self) -> Explanation {
        Explanation { breakdown: self.breakdown, timeline: self.timeline.finish() }
    }
}

impl DelaySink for &mut Explainer {
    fn sent(&mut self, packet: PacketDelay) {
        self.add(&packet);
    }

    fn unfinished(&mut self, packet: UnfinishedPacket) {
        self.add_unfinished(&packet);
    }
}
