//! Whole engines, on the system's threads and in loom's model.

#[cfg(not(loom))]
mod deadlines;
#[cfg(not(loom))]
mod ends;
#[cfg(not(loom))]
mod engines;
#[cfg(not(loom))]
mod floods;
#[cfg(loom)]
mod loom;
#[cfg(not(loom))]
mod rates;
#[cfg(not(loom))]
mod streams;
mod sums;

use laxity::packet::{ClassId, FlowId, Packet};
use laxity::scheduler::{Dispatch, DropReason};
use laxity::units::Nanos;

use crate::Sink;

/// Keeps all that comes out.
#[derive(Debug, Default)]
struct RecordingSink {
    sent: Vec<(Dispatch, u64)>,
    dropped: Vec<(Packet, DropReason, u64)>,
}

impl Sink<u64> for RecordingSink {
    fn sent(&mut self, dispatch: Dispatch, _: Nanos, payload: u64) {
        self.sent.push((dispatch, payload));
    }

    fn dropped(&mut self, packet: Packet, reason: DropReason, payload: u64) {
        self.dropped.push((packet, reason, payload));
    }
}

impl RecordingSink {
    /// The handles of all that was sent by one flow, in order.
    fn sent_by(&self, flow: u32) -> Vec<u64> {
        let of_flow = self.sent.iter().filter(|(dispatch, _)| dispatch.packet.flow == FlowId(flow));
        of_flow.map(|(dispatch, _)| dispatch.packet.handle).collect()
    }
}

fn packet(class: u32, flow: u32, handle: u64) -> Packet {
    Packet { class: ClassId(class), flow: FlowId(flow), length: 100, handle, ..Packet::default() }
}
