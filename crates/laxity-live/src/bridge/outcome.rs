//! What a bridge does with its backend.

use laxity::packet::{Ecn, Packet};
use laxity_forward::{DeliveredPacket, Event, SentPacket, ds};
use laxity_linux::frames::{Backend, Handle, Side};
use laxity_plan::Plan;

use super::Observer;

/// Lets as much wait in an interface's own queue as its link sends in two milliseconds, and two
/// packets; behind a wire, as much as the system allows. An interface that is as fast as its link
/// needs no more; before one that is slower, packets wait where they are in order.
pub(super) fn limit_queue(backend: &mut impl Backend, at: Side, plan: &Plan) {
    if plan.link.wire.is_some() {
        // A wire hands over all at once that comes out of it.
        let _ = backend.limit_queue(at, i32::MAX as u32);
        return;
    }
    let found = plan.link.autorate.as_ref().map(|autorate| autorate.settings.to);
    let rate = found.unwrap_or(plan.link.whole_rate());
    let bytes = rate.0 / 8 / 500 + 2 * plan.link.max_packet.0;
    // Memory for a full frame is up to twice as much.
    let memory = u32::try_from(bytes.saturating_mul(2)).unwrap_or(u32::MAX);
    // Where it cannot be limited, more waits there, and is looked at.
    let _ = backend.limit_queue(at, memory);
}

/// Does with a frame what has been decided, and tells.
pub(super) fn follow(
    backend: &mut impl Backend,
    at: Side,
    event: &Event,
    observer: &mut impl Observer,
) {
    let handle = |packet: &Packet| Handle(packet.handle as u32);
    if let Event::Sent(SentPacket { packet, is_washed, .. }) = event {
        let frame = backend.pool_mut().bytes_mut(handle(packet));
        if packet.ecn == Ecn::Experienced {
            ds::experience(frame);
        }
        if *is_washed {
            ds::wash(frame);
        }
    }
    observer.observe(at, event, backend.pool());
    match event {
        Event::Sent(sent) if sent.is_under_way => {}
        Event::Sent(sent) => backend.send(at.other(), handle(&sent.packet)),
        Event::Dropped(dropped) => backend.release(handle(&dropped.packet)),
        Event::Lost(lost) => backend.release(handle(&lost.packet)),
        Event::Arrived(_)
        | Event::Delivered(_)
        | Event::Nonconforming { .. }
        | Event::Idle { .. }
        | Event::Rate { .. }
        | Event::Reloaded { .. }
        | Event::Introduced { .. }
        | Event::Resumed { .. }
        | Event::Queued { .. }
        | Event::Kept { .. } => {}
    }
}

/// Hands over a frame that comes out of a wire, or a copy where it comes out once more. Returns
/// whether there was room for the copy.
pub(super) fn deliver(backend: &mut impl Backend, at: Side, delivered: &DeliveredPacket) -> bool {
    let frame = Handle(delivered.handle as u32);
    let frame = if delivered.is_needed { backend.pool_mut().copy(frame) } else { Some(frame) };
    frame.map(|frame| backend.send(at.other(), frame)).is_some()
}
