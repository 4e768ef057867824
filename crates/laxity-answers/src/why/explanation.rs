//! What the page of a run shows of its delays.

use laxity::units::Nanos;

use super::service::ServicePeriod;
use super::{DelaySink, PacketDelay, Timeline, TimelineRecorder, TotalDelays, UnfinishedPacket};

/// Why the packets of a run waited, to be drawn.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// What delayed each class in all.
    pub totals: TotalDelays,
    /// What links did, packet by packet.
    pub timeline: Timeline,
    /// The service around the packets that waited longest, under disciplines with virtual times.
    pub services: Vec<ServicePeriod>,
}

/// Makes the [`Explanation`] of a run from its delays.
#[derive(Debug)]
pub struct Explainer {
    measured_from: Nanos,
    totals: TotalDelays,
    timeline: TimelineRecorder,
}

impl Explainer {
    /// An explainer of a run of as many classes. The timeline keeps at most `budget` packets at
    /// outputs, and those around the `slowest` packets of each class longest.
    /// Packets that set out before `measured_from` count neither among the slowest nor in totals.
    pub fn new(budget: usize, slowest: usize, classes: usize, measured_from: Nanos) -> Self {
        Explainer {
            measured_from,
            totals: TotalDelays::new(classes),
            timeline: TimelineRecorder::new(budget, slowest, classes, measured_from),
        }
    }

    /// Adds a packet that came to its end.
    pub fn add(&mut self, packet: &PacketDelay) {
        if packet.packet.arrival >= self.measured_from {
            self.totals.add(packet);
        }
        self.timeline.sent(packet);
    }

    /// Adds a packet that did not come to its end.
    pub fn add_unfinished(&mut self, packet: &UnfinishedPacket) {
        self.timeline.unfinished(packet);
    }

    /// The explanation, when the run is over, with the service of classes.
    pub fn finish(self, services: Vec<ServicePeriod>) -> Explanation {
        Explanation { totals: self.totals, timeline: self.timeline.finish(), services }
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
