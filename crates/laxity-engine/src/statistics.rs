//! Statistics of an engine.

use laxity::histogram::Delays;
use laxity::scheduler::DropReason;

/// Counts of the packets that went through an engine. Packets that are still in a ring are not
/// counted; of all others, received = sent + dropped + queued.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Packets that the scheduler thread took from the rings.
    pub received: u64,
    /// Packets that went to the sink.
    pub sent: u64,
    /// Their bytes.
    pub bytes_sent: u64,
    /// Packets that the scheduler dropped, in the order of [`DropReason::ALL`].
    pub dropped: [u64; DropReason::ALL.len()],
    /// Packets that are in the scheduler.
    pub queued: u64,
    /// Producers that joined.
    pub producers: u64,
    /// How often a producer found its ring full.
    pub ring_full: u64,
    /// Packets that producers dropped because their ring was full or the engine had stopped; they
    /// never came in.
    pub ring_dropped: u64,
    /// Time from a producer's call to the sink, of one packet in
    /// [`Settings::time_one_in`](crate::Settings::time_one_in).
    pub latency: Delays,
    /// The part of `latency` before the scheduler thread took the packet from its ring, for packets
    /// whose producer had room in the scheduler. Proofs about the scheduler count from then.
    pub ring: Delays,
    /// Time between the end of a transmission on the link of [`Pace::Link`](crate::Pace::Link) and
    /// the choice of the next packet, if one waited. Proofs assume an ideal link, with a thread
    /// that is never late.
    pub late: Delays,
}
