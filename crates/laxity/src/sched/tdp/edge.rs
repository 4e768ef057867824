//! The edge of a TDP network: which frame a packet gets that comes without one (Baldi et al. 2006,
//! section II.C).

use alloc::vec::Vec;
use core::num::NonZeroU32;

use super::{CommonTime, Tdp};
use crate::error::{SetupError, check_of};
use crate::packet::{ClassId, FlowId, Hosts, Packet};
use crate::scheduler::{Backlog, Dispatch, DropSink, Scheduler};
use crate::units::{Bytes, Nanos};

/// When a flow may send: `packets` in each period, one per frame, in frames that are spread evenly
/// over it. The period is a cycle or a super cycle; periods begin with frame 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// The frame of the period in which the first packet is sent, below `period`.
    pub start: u32,
    /// k, the packets of a period: at least 1.
    pub packets: u32,
    /// n, the frames of a period: at least 1.
    pub period: u32,
}

impl Slots {
    /// How many frames after the first packet of a period the i-th may be sent, of those from 0 to
    /// k - 1: `floor(i n / k)`.
    pub fn offset(&self, i: u32) -> u32 {
        (u64::from(i) * u64::from(self.period) / u64::from(self.packets)) as u32
    }
}

crate::id! {
    /// A contract of an [`Edge`]: its position among all that the edge was made with.
    pub struct ContractId;
}

/// The reservation of a flow at the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    /// When it may send.
    pub slots: Slots,
    /// Its longest packet.
    pub packet: Bytes,
}

/// Assigns frames to packets of reserved flows in an edge router, one class per flow.
///
/// A packet gets the first frame of its flow after the current one that no earlier packet got;
/// until then the output holds it. If a flow's packets are at least n/k frames apart, each gets a
/// frame that begins less than 1 + n/k frames later.
///
/// Traffic beyond a reservation is policed. A packet that is longer than reserved is best effort. A
/// packet whose frame would be more than `ahead` frames away is assigned that frame without taking
/// it; an output that does not reach so far drops it.
#[derive(Clone, Debug)]
pub struct Edge {
    time: CommonTime,
    ahead: u64,
    flows: Vec<Option<Flow>>,
}

/// The contract of a flow and the first slot after those that were given, in half a cache line.
#[derive(Clone, Copy, Debug)]
struct Flow {
    start: u32,
    /// k.
    packets: NonZeroU32,
    /// From a packet's slot to that of the next one there are `n div k` frames ...
    gap: u32,
    /// ... and `n mod k` parts of a frame; a frame has k parts.
    gap_parts: u32,
    longest: u32,
    /// How many parts after the beginning of `frame` the slot is.
    parts: u32,
    frame: u64,
}

impl Flow {
    fn new(class: ClassId, Contract { slots, packet }: Contract) -> Result<Flow, SetupError> {
        let Slots { start, packets, period } = slots;
        let counted = u32::MAX.into();
        check_of("the number of packets in a period", class, packets.into(), 1..=counted)?;
        check_of("the number of frames in a period", class, period.into(), 1..=counted)?;
        check_of("the first frame", class, start.into(), 0..=u64::from(period) - 1)?;
        let packets = NonZeroU32::new(packets).expect("it is at least 1");
        Ok(Flow {
            start,
            packets,
            gap: period / packets,
            gap_parts: period % packets,
            longest: u32::try_from(packet.0).unwrap_or(u32::MAX),
            parts: 0,
            frame: 0,
        })
    }

    /// What it may send.
    fn contract(&self) -> (u32, NonZeroU32, u32, u32, u32) {
        let Flow { start, packets, gap, gap_parts, longest, .. } = *self;
        (start, packets, gap, gap_parts, longest)
    }

    /// Goes to the first slot that is in this frame or later.
    #[cold]
    fn skip_to(&mut self, frame: u64) {
        let packets = u64::from(self.packets.get());
        let period = u64::from(self.gap) * packets + u64::from(self.gap_parts);
        // The frame's number within the period, which may have begun before frame 0.
        let number = (frame + period - u64::from(self.start)) % period;
        let parts = (number * packets).div_ceil(period) * period;
        self.frame = frame + parts / packets - number;
        self.parts = (parts % packets) as u32;
    }

    /// Goes to the next slot.
    fn step(&mut self) {
        let parts = u64::from(self.parts) + u64::from(self.gap_parts);
        let packets = u64::from(self.packets.get());
        let is_more = parts >= packets;
        self.frame += u64::from(self.gap) + u64::from(is_more);
        self.parts = if is_more { parts - packets } else { parts } as u32;
    }
}

impl Edge {
    /// An edge for these flows, by class; a class without a contract is best effort. Frames are
    /// assigned at most `ahead` frames after the current one, which must not exceed the output's
    /// forwarding delay.
    ///
    /// # Errors
    /// If there is no frame, or a flow has no packets, no period, or begins beyond its period.
    pub fn new(
        time: CommonTime,
        ahead: u32,
        contracts: &[Option<Contract>],
    ) -> Result<Self, SetupError> {
        time.check(1)?;
        let flow = |(class, contract): (ClassId, &Option<Contract>)| {
            contract.map(|contract| Flow::new(class, contract)).transpose()
        };
        let flows = (0..).map(ClassId).zip(contracts).map(flow).collect::<Result<_, _>>()?;
        Ok(Edge { time, ahead: ahead.into(), flows })
    }

    /// Goes on where another edge is with a flow that has the same contract there: no packet gets a
    /// frame that another one got.
    pub fn go_on(&mut self, contract: ContractId, other: &Edge, at_other: ContractId) {
        let other = other.flows.get(at_other.index()).copied().flatten();
        let own = self.flows.get_mut(contract.index()).and_then(Option::as_mut);
        if let (Some(own), Some(other)) = (own, other)
            && own.contract() == other.contract()
        {
            *own = other;
        }
    }

    /// The frame of a packet that arrives now; `None` for best effort, as which all of a class
    /// without a contract and demoted packets travel.
    pub fn frame_of(&mut self, now: Nanos, packet: &Packet) -> Option<u64> {
        self.frame_under(ContractId(packet.class.0), now, packet)
    }

    /// The same where flows are not classes, for a packet under this contract.
    pub fn frame_under(
        &mut self,
        contract: ContractId,
        now: Nanos,
        packet: &Packet,
    ) -> Option<u64> {
        let flow = self.flows.get_mut(contract.index())?.as_mut()?;
        if packet.demoted || packet.length > flow.longest {
            return None;
        }
        let current = self.time.frame_at(now);
        if flow.frame <= current {
            flow.skip_to(current + 1);
        }
        let frame = flow.frame;
        if frame - current <= self.ahead {
            flow.step();
        }
        Some(frame)
    }
}

/// A scheduler that assigns a frame of an output to each packet, by a function of time and packet
/// such as [`Edge::frame_of`]. Packets without a frame are best effort.
#[derive(Clone, Debug)]
pub struct FrameAssigner<F> {
    /// The output.
    pub output: Tdp,
    frame_of: F,
}

impl<F: FnMut(Nanos, &Packet) -> Option<u64>> FrameAssigner<F> {
    /// This output, with frames from this function.
    pub fn new(output: Tdp, frame_of: F) -> Self {
        FrameAssigner { output, frame_of }
    }
}

impl<F: FnMut(Nanos, &Packet) -> Option<u64>> Scheduler for FrameAssigner<F> {
    #[inline(always)]
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        match (self.frame_of)(now, &packet) {
            Some(frame) => self.output.enqueue_in(now, packet, frame, drops),
            None => self.output.enqueue(now, packet, drops),
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        self.output.dequeue(now, drops)
    }

    fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        self.output.introduce(class, flow, hosts);
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.output.next_ready(now)
    }

    fn backlog(&self) -> Backlog {
        self.output.backlog()
    }

    fn footprint(&self) -> usize {
        self.output.footprint() + size_of::<F>()
    }
}
