//! Why a packet waits: the rules by which a scheduler sends others before it, or nothing at all.
//!
//! A discipline states its rules in an [`Explain`] beside its algorithm, and gives it out by
//! [`Scheduler::explain`](crate::scheduler::Scheduler::explain). A [`Witness`] around a scheduler
//! asks for them at every choice, and splits the time that a packet waits by cause.

mod line;
mod queue;
#[cfg(test)]
mod tests;
mod witness;

pub use witness::{Cause, Part, Wait, Witness};

use crate::named::named;
use crate::packet::{ClassId, Packet};
use crate::scheduler::Dispatch;
use crate::units::Nanos;

/// The rules of a discipline, asked right after it has chosen a packet, or none.
pub trait Explain {
    /// The queue in which a packet waits. The packets of one queue leave in the order in which they
    /// came, and different queues have different numbers. Without another answer it is that of the
    /// packet's class.
    fn queue(&self, packet: &Packet) -> u64 {
        packet.class.0.into()
    }

    /// The rule by which `sent`, which was chosen at `now`, goes before `waiting`, the first packet
    /// of another queue.
    fn precedence(&self, now: Nanos, sent: &Dispatch, waiting: &Packet) -> Rule;

    /// The rule by which nothing was chosen at `now`, while `waiting` is the first packet of its
    /// queue. Disciplines that always send what they have are never asked.
    fn hold(&self, now: Nanos, waiting: &Packet) -> Rule {
        let _ = (now, waiting);
        Rule::Scheduler
    }

    /// The virtual times of its classes, if it shares its service by them.
    fn virtual_times(&self) -> Option<&dyn VirtualTimes> {
        None
    }
}

/// The virtual times of a discipline's classes, by which it shares its service among siblings.
pub trait VirtualTimes {
    /// The virtual time of a class that takes part, in nanoseconds: when its share alone would have
    /// given it what it received. `None` for a class without packets.
    fn virtual_time(&self, class: ClassId) -> Option<u128>;
}

named! {
    /// Why a packet waits for others, or for its own time.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Rule {
        /// The other came first.
        ArrivalOrder = "arrival-order",
        /// The other is due earlier.
        EarlierDeadline = "earlier-deadline",
        /// The other has a guarantee, and the packet that waits is best effort.
        BestEffort = "best-effort",
        /// The other has a smaller virtual finishing time.
        VirtualFinish = "virtual-finish",
        /// The fluid has not begun to serve the packet that waits: its class is ahead of its share.
        Ineligible = "ineligible",
        /// It is the turn of the other.
        Turn = "turn",
        /// The flow of the other is new: it has had no turn yet.
        NewFlow = "new-flow",
        /// The queue of the other has the greater share of the link.
        QueueShare = "queue-share",
        /// The tin of the other goes first (CAKE).
        Tin = "tin",
        /// A shaper holds all packets back (CAKE).
        Shaper = "shaper",
        /// The level of the other comes first.
        Level = "level",
        /// The real-time curve of the other's leaf is to be kept (H-FSC).
        RealTimeCurve = "real-time-curve",
        /// A class above the other has a smaller virtual time than its sibling above the packet
        /// that waits (H-FSC).
        VirtualTime = "virtual-time",
        /// An upper limit holds the packet that waits back (H-FSC).
        UpperLimit = "upper-limit",
        /// The leaf of the packet that waits has a real-time curve alone, by which it is not served
        /// yet (H-FSC).
        EligibleTime = "eligible-time",
        /// The stream of the other has the lower loss tolerance (DWCS).
        LossTolerance = "loss-tolerance",
        /// The time frame of the packet that waits has not begun.
        TimeFrame = "time-frame",
        /// The other has the lower rank.
        Rank = "rank",
        /// A scheduler that does not say why.
        Scheduler = "scheduler",
        /// A scheduler that is measured from outside, whose rules are not seen.
        Unseen = "unseen",
    }
}
