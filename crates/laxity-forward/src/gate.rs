//! What is decided of a packet before queues see it.

use laxity::packet::Packet;
use laxity::police::{Entry, Policer};
use laxity::scheduler::{Backlog, DropReason};
use laxity::units::{Bytes, Nanos};

/// Advances the time `last` to `now`: never back, and not beyond [`Nanos::LIMIT`].
pub(crate) fn advance(last: &mut Nanos, now: Nanos) -> Nanos {
    *last = (*last).max(now.min(Nanos::LIMIT));
    *last
}

/// What the memory for packets depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub queued: Backlog,
    /// How much may be queued.
    pub most: Backlog,
    /// Whether it is known what arrives of the packet's class.
    pub has_contract: bool,
}

/// Whether a packet may be queued, as far as its length, its contract and memory go. `policer` is
/// `None` where contracts were held before.
pub(crate) fn accept(
    longest: Bytes,
    policer: Option<&mut Policer>,
    packet: &mut Packet,
    memory: Memory,
    nonconforming: impl FnOnce(),
) -> Result<(), DropReason> {
    if u64::from(packet.length) > longest.0 {
        return Err(DropReason::TooLong);
    }
    if let Some(policer) = policer {
        let entry = policer.police(packet.arrival, packet);
        if entry != Entry::Conforming {
            nonconforming();
        }
        if entry == Entry::Refused {
            return Err(DropReason::Contract);
        }
    }
    let Memory { queued, most, has_contract } = memory;
    let has_memory = laxity_plan::has_memory(packet, has_contract, queued, most);
    if has_memory { Ok(()) } else { Err(DropReason::no_room(packet)) }
}
