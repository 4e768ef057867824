//! What an engine counts.

use laxity::histogram::Delays;
use laxity::scheduler::DropReason;

/// What went through an engine. Packets that are still in a ring are not in it; of all others,
/// received = sent + dropped + queued.
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
    /// How often a producer that wanted to send found its ring full.
    pub ring_full: u64,
    /// Packets that producers dropped because their ring was full or the engine had stopped; they
    /// never came in.
    pub ring_dropped: u64,
    /// From a producer's sending to the sink, of one packet in
    /// [`Settings::time_one_in`](crate::Settings::time_one_in) that were sent.
    pub latency: Delays,
    /// The part of it before the scheduler thread took the packet from its ring, of packets whose
    /// producer had room in the scheduler. What a scheduler is proved to keep begins then.
    pub ring: Delays,
    /// How long after the link of [`Pace::Link`](crate::Pace::Link) was free its next packet was
    /// chosen, where one waited. A proof takes an ideal link, whose thread is never late.
    pub late: Delays,
}
