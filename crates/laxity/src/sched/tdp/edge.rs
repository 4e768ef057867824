//! The edge of a TDP network: which frame a packet gets that comes without one (Baldi et al. 2006,
//! section II.C).

use alloc::vec::Vec;

use super::{CommonTime, Tdp};
use crate::packet::Packet;
use crate::scheduler::{Backlog, Dispatch, DropSink, Scheduler};
use crate::units::{Bytes, Nanos};

/// When a flow may send: so many packets in each period, one in each of frames that are spread evenly
/// over it. The period is a cycle or a super cycle of so many frames; periods begin with frame 0.
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

    /// The first slot that is in this frame or later.
    fn first_from(&self, frame: u64) -> Slot {
        let (period, packets) = (u64::from(self.period), u64::from(self.packets));
        // Slots begin a period early, so that none is before the first of them.
        let since = frame + period - u64::from(self.start);
        let index = (since % period * packets).div_ceil(period);
        let before = Slot { periods: since / period, index: index as u32 };
        if index < packets { before } else { Slot { periods: before.periods + 1, index: 0 } }
    }

    fn frame(&self, slot: Slot) -> u64 {
        let frame = slot.periods * u64::from(self.period) + u64::from(self.start);
        (frame + u64::from(self.offset(slot.index))).saturating_sub(self.period.into())
    }

    fn after(&self, slot: Slot) -> Slot {
        let index = slot.index + 1;
        if index < self.packets {
            Slot { index, ..slot }
        } else {
            Slot { periods: slot.periods + 1, index: 0 }
        }
    }
}

/// One of the packets that a flow may send.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Counted from one period before `start`.
    periods: u64,
    index: u32,
}

/// What was reserved for a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    /// When it may send.
    pub slots: Slots,
    /// Its longest packet.
    pub packet: Bytes,
}

/// Gives frames to the packets of one reserved flow in an edge router.
///
/// A packet gets the first frame of its flow after the current one that no packet before it got; until
/// then the output holds it. Of a flow whose packets come no closer than n/k frames' time, each gets a
/// frame that begins less than 1 + n/k frames' time later.
///
/// What exceeds a reservation is policed: a packet that is longer than was reserved is best effort. If a
/// packet's frame would be more than `ahead` frames away, that is what it is told, but the frame stays
/// free; an output that reaches no further drops it.
#[derive(Clone, Copy, Debug)]
pub struct Shaper {
    time: CommonTime,
    ahead: u64,
    contract: Contract,
    /// The first slot after those that were given.
    next: Slot,
}

impl Shaper {
    /// For a flow of this contract. `ahead` frames after the current one are given at most: no more
    /// than the output's forwarding delay.
    pub fn new(time: CommonTime, ahead: u32, contract: Contract) -> Self {
        Shaper { time, ahead: ahead.into(), contract, next: Slot::default() }
    }

    /// The frame of a packet that arrives now; `None` for best effort, as which demoted packets and
    /// those that are too long travel.
    pub fn frame_of(&mut self, now: Nanos, packet: &Packet) -> Option<u64> {
        let Contract { slots, packet: longest } = self.contract;
        if packet.demoted || u64::from(packet.length) > longest.0 {
            return None;
        }
        let current = self.time.frame_at(now);
        if slots.frame(self.next) <= current {
            self.next = slots.first_from(current + 1);
        }
        let frame = slots.frame(self.next);
        if frame - current <= self.ahead {
            self.next = slots.after(self.next);
        }
        Some(frame)
    }
}

/// The [shapers](Shaper) of an edge router's flows, one class a flow.
#[derive(Clone, Debug)]
pub struct Edge {
    shapers: Vec<Option<Shaper>>,
}

impl Edge {
    /// For these flows, by class, of which those without a contract are best effort; `ahead` as for
    /// each [`Shaper`].
    pub fn new(time: CommonTime, ahead: u32, contracts: &[Option<Contract>]) -> Self {
        let shaper = |contract: &Option<Contract>| Some(Shaper::new(time, ahead, (*contract)?));
        Edge { shapers: contracts.iter().map(shaper).collect() }
    }

    /// The frame of a packet that arrives now; `None` for best effort, as which all of a class
    /// without a contract travels, too.
    pub fn frame_of(&mut self, now: Nanos, packet: &Packet) -> Option<u64> {
        self.shapers.get_mut(packet.class.index())?.as_mut()?.frame_of(now, packet)
    }
}

/// An output whose packets' frames are told by a function of the time and the packet, such as
/// [`Edge::frame_of`], so that it is a scheduler like others. Packets without a frame are best effort.
#[derive(Clone, Debug)]
pub struct Assigned<F> {
    /// The output.
    pub output: Tdp,
    frame_of: F,
}

impl<F: FnMut(Nanos, &Packet) -> Option<u64>> Assigned<F> {
    /// This output, with frames from this function.
    pub fn new(output: Tdp, frame_of: F) -> Self {
        Assigned { output, frame_of }
    }
}

impl<F: FnMut(Nanos, &Packet) -> Option<u64>> Scheduler for Assigned<F> {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        match (self.frame_of)(now, &packet) {
            Some(frame) => self.output.enqueue_in(now, packet, frame, drops),
            None => self.output.enqueue(now, packet, drops),
        }
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        self.output.dequeue(now, drops)
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
