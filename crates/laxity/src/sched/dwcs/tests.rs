mod agreement;
mod reference;
mod rules;
mod special;

use super::{Late, Stream, Streams};
use crate::packet::{ClassId, FlowId, Packet};
use crate::units::Nanos;
use crate::window::Loss;

/// A class of one stream; `gap` 0 stands for none.
fn stream(gap: u64, loss: (u32, u32), late: Late) -> Streams {
    let gap = (gap > 0).then_some(Nanos(gap));
    let loss = Loss::new(loss.0, loss.1).unwrap();
    Streams { stream: Stream { gap, loss, late }, count: 1 }
}

fn packet(class: u32, flow: u32, arrival: u64, handle: u64) -> Packet {
    Packet {
        class: ClassId(class),
        flow: FlowId(flow),
        length: 1,
        arrival: Nanos(arrival),
        handle,
        ..Packet::default()
    }
}
