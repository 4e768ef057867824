//! Why packets were delayed: the delay of each as a sum of causes, exact to the nanosecond.
//!
//! A [`Gatherer`] observes a run whose schedulers have [witnesses](Witness), and tells of every
//! packet that was sent what it waited for at each link.

mod change;
mod code;
mod explanation;
mod gatherer;
mod history;
mod live;
mod selection;
pub mod service;
mod sink;
mod timeline;
mod totals;

use laxity::explain;
#[cfg(doc)]
use laxity::explain::Witness;
use laxity::packet::Packet;
use laxity::units::Nanos;
use laxity_plan::model::Hop;

pub use change::{ChangedDelays, ChangedPacket, DropObserver, Search, SelectedPackets};
pub use explanation::{Explainer, Explanation};
pub use gatherer::{Gatherer, Waits};
pub use live::{JointClasses, LiveGatherer, LiveScheduler};
pub use selection::{Delays, Selection};
pub use sink::{DelaySink, LastQueue, UnfinishedPacket};
pub use timeline::{Passage, Timeline, TimelineRecorder, UnsentPacket};
pub use totals::{ClassTotals, TotalDelays};

/// The delay of a packet, link by link.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketDelay {
    /// The packet. It arrived when it set out on its path. On one link its handle is its number in
    /// the order of arrival, from 0.
    pub packet: Packet,
    /// When its last bit left the only link, or came to its receiver.
    pub end: Nanos,
    /// When it was due by the deadline of its class, on the only link or from end to end. Demoted
    /// packets have none.
    pub due: Option<Nanos>,
    /// The links that it took.
    pub hops: Vec<HopDelay>,
}

/// What delayed a packet at one link, and on the way from there.
#[derive(Clone, Debug, PartialEq)]
pub struct HopDelay {
    /// The link of a network, and in which direction.
    pub hop: Option<Hop>,
    /// When it arrived.
    pub arrival: Nanos,
    /// When its first bit left.
    pub start: Nanos,
    /// When its last bit left.
    pub departure: Nanos,
    /// The causes, each once. The sum of their times goes from the arrival here to the arrival at
    /// the next link or at the receiver.
    pub parts: Vec<Part>,
}

/// A part of a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The cause.
    pub cause: Cause,
    /// How long it lasted.
    pub time: Nanos,
}

/// Why a packet was delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// It waited for its turn.
    Wait(explain::Cause),
    /// Its own transmission, at the link's rate.
    Transmission,
    /// Its own transmission, as far as the link was slower than its rate.
    SlowTransmission,
    /// The propagation delay of the link.
    Propagation,
    /// The wire delayed it beyond that.
    Wire,
    /// The regulator before the next link held it.
    Regulator,
    /// The wire and the regulator behind it, which a run does not tell apart.
    WireAndRegulator,
}

/// When a packet is due that arrived or set out when it says, if its class is promised this.
fn due(packet: &Packet, promised: Option<Nanos>) -> Option<Nanos> {
    let promised = promised.filter(|_| !packet.demoted);
    promised.map(|promised| packet.arrival.saturating_add(promised))
}

impl PacketDelay {
    /// From when the packet set out to its end.
    pub fn delay(&self) -> Nanos {
        self.end - self.packet.arrival
    }

    /// Whether it was late.
    pub fn is_missed(&self) -> bool {
        self.due.is_some_and(|due| self.end > due)
    }
}
