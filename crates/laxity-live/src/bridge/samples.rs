//! What the tests of the books of a bridge begin with.

use std::path::Path;

use laxity::packet::Packet;
use laxity::units::Nanos;
use laxity_forward::{ArrivedPacket, Event, SentPacket};
use laxity_plan::Plan;
use laxity_plan::matching::Headers;

/// A link of 10 Mbit/s with two classes, `call` and `rest`.
pub(crate) fn plan() -> Plan {
    let text = "version = 1
        link = { rate = '10mbit' }
        scheduler.kind = 'fifo'
        class.call = {}
        class.rest = {}";
    Plan::parse(text, "plan.toml", Path::new(".")).expect("a plan")
}

/// The arrival of a packet.
pub(super) fn arrived(packet: Packet, headers: Headers) -> Event {
    let Packet { class, flow, length, arrival: time, ecn, ack, .. } = packet;
    let (number, arrived) = (0, time);
    Event::Arrived(ArrivedPacket { number, arrived, time, class, flow, length, ecn, ack, headers })
}

/// A packet that was sent in time, between these moments.
pub(super) fn sent(packet: Packet, start: Nanos, departure: Nanos) -> SentPacket {
    SentPacket {
        number: 0,
        arrived: packet.arrival,
        packet,
        deadline: None,
        start,
        lateness: Nanos::ZERO,
        departure,
        allowance: Nanos::ZERO,
        held: Nanos::ZERO,
        is_under_way: false,
        is_washed: false,
    }
}
