//! Another scheduler for what is queued, as when a plan is reloaded.

use alloc::vec::Vec;

use crate::packet::{ClassId, Packet};
use crate::scheduler::{DropSink, Scheduler};
use crate::units::Nanos;

/// A queued packet that another scheduler takes over.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "made by the owner of the packets")]
pub struct HandedPacket {
    /// The packet, as the next scheduler knows it.
    pub packet: Packet,
    /// Its class at the scheduler before, if what that remembers of its queue goes along.
    pub remembered: Option<ClassId>,
}

/// Hands queued packets, in the order of their arrival, to a scheduler that
/// [takes them over](Scheduler::take_over), and then what the one before remembers of their queues.
/// That one is to be forgotten: it still holds the packets.
pub fn hand_over(
    now: Nanos,
    before: &dyn Scheduler,
    next: &mut dyn Scheduler,
    queued: &[HandedPacket],
    drops: &mut dyn DropSink,
) {
    let memory = |handed: &HandedPacket| {
        let Packet { class, flow, .. } = handed.packet;
        Some((class, flow, before.memory(handed.remembered?, flow)?))
    };
    let memories: Vec<_> = queued.iter().filter_map(memory).collect();
    for handed in queued {
        next.take_over(now, handed.packet, drops);
    }
    for (class, flow, memory) in memories {
        next.recall(class, flow, memory);
    }
}
