//! What classes were served around the packets that waited longest: service received beside
//! deadlines, and virtual times of siblings.

mod recorder;
#[cfg(test)]
mod tests;

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_plan::model::Hop;

pub use recorder::ServiceRecorder;

/// The service of a class around the packet of the class that waited longest at an output.
#[derive(Clone, Debug, PartialEq)]
pub struct ServicePeriod {
    /// The output of a network.
    pub hop: Option<Hop>,
    /// The class, a leaf.
    pub class: ClassId,
    /// The number of the packet: on one link that in the order of arrival.
    pub packet: u64,
    /// When the packet arrived.
    pub arrival: Nanos,
    /// When it was chosen.
    pub start: Nanos,
    /// The packets of the class that were sent in the period, in their order.
    pub service: Vec<Service>,
    /// The virtual times of the class and its siblings, or of the classes above that compete.
    pub virtual_times: Vec<VirtualTimeCurve>,
}

/// A packet that was sent, and the service of its class in the period so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// When its last bit left, at the link's nominal rate.
    pub end: Nanos,
    /// Bytes that the class received, with this packet.
    pub received: u64,
    /// Bytes that it received by the real-time criterion, with this packet if that counts for it.
    pub real_time: u64,
    /// A point of the deadline curve: when the packet was due, and the bytes that the real-time
    /// criterion owed the class by then.
    pub deadline: Option<(Nanos, u64)>,
}

/// The virtual time of a class, as often as the link chose a packet.
#[derive(Clone, Debug, PartialEq)]
pub struct VirtualTimeCurve {
    /// The class.
    pub class: ClassId,
    /// A time, and the virtual time in nanoseconds right after the choice; `None` without packets.
    pub points: Vec<(Nanos, Option<u64>)>,
}

impl ServicePeriod {
    /// How long the packet waited.
    pub fn wait(&self) -> Nanos {
        self.start - self.arrival
    }
}
