//! Outputs of time-driven priority, all of whose frames are reserved and as long as their packets need.

use std::iter::repeat_n;

use laxity::packet::Packet;
use laxity::sched::tdp::{Assigned, CommonTime, Contract, Edge, Slots, TdpSettings};
use laxity::sched::{Late, Tdp};
use laxity::units::{Bytes, Nanos};

use super::load;
use super::uniform::{self, LINK};

/// The packets of a frame, at most: so many of 250 bytes take 240 us at 100 Mbit/s.
const PACKETS: u32 = 12;

/// How flows share the frames: each sends one packet a cycle.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    frames: u32,
    /// The packets of a frame.
    packets: u32,
}

/// An output within the network: it is told frames and knows no flows.
pub fn core(flows: u32) -> Assigned<impl FnMut(Nanos, &Packet) -> Option<u64>> {
    let cycle = Cycle::of(flows);
    let mut frames = (1..).flat_map(move |frame| repeat_n(frame, cycle.packets as usize));
    Assigned::new(cycle.output(), move |_, _| frames.next())
}

/// An output at the edge, where each flow's frames are looked up.
pub fn edge(flows: u32) -> Assigned<impl FnMut(Nanos, &Packet) -> Option<u64>> {
    let cycle = Cycle::of(flows);
    let contract = |place| {
        let slots = Slots { start: place / cycle.packets, packets: 1, period: cycle.frames };
        Some(Contract { slots, packet: Bytes(uniform::LENGTH.into()) })
    };
    let contracts: Vec<_> = load::shuffled(flows).into_iter().map(contract).collect();
    let edge = Edge::new(cycle.time(), cycle.delay(), &contracts);
    let mut edge = edge.expect("one packet a cycle, in a frame of it");
    Assigned::new(cycle.output(), move |now, packet| edge.frame_of(now, packet))
}

impl Cycle {
    fn of(flows: u32) -> Self {
        let frames = flows.div_ceil(PACKETS);
        Cycle { frames, packets: flows.div_ceil(frames) }
    }

    fn time(self) -> CommonTime {
        let frame = Nanos(u64::from(self.packets) * uniform::TRANSMISSION.0);
        CommonTime { frame, frames: self.frames, cycles: 1 }
    }

    /// As far ahead as packets come if every flow has two queued.
    fn delay(self) -> u32 {
        2 * self.frames
    }

    fn output(self) -> Tdp {
        let (time, delay) = (self.time(), self.delay());
        let guard = Nanos::ZERO;
        let output = Tdp::new(TdpSettings { time, rate: LINK, delay, guard, late: Late::Drop });
        output.expect("frames take time and there is no guard")
    }
}
