//! What is decided of a packet before queues see it.

use laxity::packet::Packet;
use laxity::police::{Entry, Policer};
use laxity::scheduler::{Backlog, DropReason};
use laxity::units::Nanos;
use laxity_plan::Plan;

/// Advances the time `last` to `now`: never back, and not beyond [`Nanos::LIMIT`].
pub(crate) fn advance(last: &mut Nanos, now: Nanos) -> Nanos {
    *last = (*last).max(now.min(Nanos::LIMIT));
    *last
}

/// Whether a packet may be queued, as far as its length, its contract and memory go. `policer` is
/// `None` where contracts were held before. `memory` is what is queued and what may be.
pub(crate) fn accept(
    plan: &Plan,
    policer: Option<&mut Policer>,
    packet: &mut Packet,
    memory: [Backlog; 2],
    nonconforming: impl FnOnce(),
) -> Result<(), DropReason> {
    if u64::from(packet.length) > plan.link.max_packet.0 {
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
    let [queued, limit] = memory;
    if plan.has_memory(packet, queued, limit) { Ok(()) } else { Err(DropReason::no_room(packet)) }
}
