//! Outputs of time-driven priority, all of whose frames are reserved.

use laxity::packet::Packet;
use laxity::sched::tdp::{CommonTime, Contract, Edge, FrameAssigner, Slots, TdpSettings};
use laxity::sched::{Late, Tdp};
use laxity::units::{Bytes, Nanos, Rate};

use super::load::Under;
use super::timing::shuffled;
use super::uniform;
use crate::args::Load;

/// How flows share the frames: each sends one packet a cycle.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    link: Rate,
    frames: u32,
    /// The packets of a frame that are as long as any.
    packets: u32,
    longest: u32,
    /// How many frames ahead packets come at most.
    delay: u32,
}

/// An output within the network. Packets carry their frame; the output knows no flows. Packets fill
/// one frame after the other, and none comes for a frame that has begun.
pub(super) fn core(under: Under) -> FrameAssigner<impl FnMut(Nanos, &Packet) -> Option<u64>> {
    let cycle = Cycle::new(under);
    let CommonTime { frame: length, .. } = cycle.time();
    let capacity = cycle.packets * cycle.longest;
    let (mut frame, mut begins, mut left) = (0, Nanos::ZERO, 0);
    FrameAssigner::new(cycle.output(), move |now, packet| {
        while now >= begins || packet.length > left {
            frame += 1;
            begins += length;
            left = capacity;
        }
        left -= packet.length;
        Some(frame)
    })
}

/// An output at the edge, where each flow's frames are looked up.
pub(super) fn edge(under: Under) -> FrameAssigner<impl FnMut(Nanos, &Packet) -> Option<u64>> {
    let cycle = Cycle::new(under);
    let contract = |place| {
        let slots = Slots { start: place / cycle.packets, packets: 1, period: cycle.frames };
        Some(Contract { slots, packet: Bytes(cycle.longest.into()) })
    };
    let contracts: Vec<_> = shuffled(under.classes).into_iter().map(contract).collect();
    let edge = Edge::new(cycle.time(), cycle.delay, &contracts);
    let mut edge = edge.expect("one packet a cycle, in a frame of it");
    FrameAssigner::new(cycle.output(), move |now, packet| edge.frame_of(now, packet))
}

impl Cycle {
    fn new(under: Under) -> Self {
        let (link, flows) = (under.link(), under.classes);
        match under.load {
            // 12 packets of 250 bytes take 240 us at 100 Mbit/s. Every flow has two queued.
            Load::Uniform => {
                let frames = flows.div_ceil(12);
                let packets = flows.div_ceil(frames);
                Cycle { link, frames, packets, longest: uniform::LENGTH, delay: 2 * frames }
            }
            // 120 us. Few flows have 64 packets queued, many four.
            Load::Natural | Load::Watched => {
                let frames = flows.div_ceil(100);
                Cycle { link, frames, packets: 100, longest: 1_500, delay: 64 + 5 * frames }
            }
        }
    }

    fn time(self) -> CommonTime {
        let frame = self.link.time_for(Bytes(u64::from(self.packets) * u64::from(self.longest)));
        CommonTime { frame, frames: self.frames, cycles: 1 }
    }

    fn output(self) -> Tdp {
        let Cycle { link: rate, delay, .. } = self;
        let (time, guard) = (self.time(), Nanos::ZERO);
        let output = Tdp::new(TdpSettings { time, rate, delay, guard, late: Late::Drop });
        output.expect("frames take time and there is no guard")
    }
}
