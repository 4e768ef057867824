//! Reservation for [time-driven priority](crate::sched::tdp) (Baldi et al. 2006, sections II.A and
//! II.B): in which frames each flow sends, so that no frame of any output takes more than its capacity.
//!
//! A packet that the first output of a flow sends in frame t is sent by each later one in the frame
//! that lies as much later as the forwarding delays on the way sum up to. So one frame, that of the
//! first packet of a period, fixes all frames of a flow, and reserving is a packing problem with that
//! one choice a flow. The paper leaves it to signalling, which it does not describe; its experiments
//! are reserved by hand (section IV). The problem is as hard as bin packing. Here every flow gets the
//! frame that leaves most room where it leaves least, the flows that are hardest to place first; then,
//! as long as some do not fit, those are placed first in another round (squeaky wheel optimization:
//! Joslin, Clements 1999).

#[cfg(test)]
mod tests;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Reverse;

use num_integer::gcd;

use crate::sched::tdp::{CommonTime, Slots};
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// How often flows are placed anew while some do not fit.
const ROUNDS: usize = 12;

/// A flow that asks for a reservation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The outputs that it passes, each as often as it does; at least one.
    pub path: Vec<Hop>,
    /// The packets that it sends in a period, evenly spread: at least 1.
    pub packets: u32,
    /// Its longest packet, with all that takes time on the link.
    pub packet: Bytes,
}

/// An output on a flow's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Its number.
    pub output: u32,
    /// d, the forwarding delay: so many frames after the output before, without `propagation`, it
    /// sends a packet. Counts for nothing at the first output.
    pub delay: u32,
    /// Whole frames for the link to this output, if the delay does not include them.
    pub propagation: u32,
}

/// What a flow can count on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// No packet waits longer at an [edge](crate::sched::tdp::Edge) until the frame in which it is sent,
    /// if the flow's packets come no closer than a period's k-th part.
    pub shaping: Nanos,
    /// No packet takes longer from the beginning of that frame until its last bit leaves the last output:
    /// the forwarding delays and the frame.
    pub transit: Nanos,
    /// The time from when a packet's transmission by the first output begins until it has left the last
    /// one varies by less than this: two frames.
    pub jitter: Nanos,
}

/// A frame of a period, at an output, that has no room for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Full {
    /// The output.
    pub output: u32,
    /// The frame's number in the period.
    pub frame: u32,
    /// What others have reserved of it.
    pub reserved: Bytes,
    /// What there is.
    pub capacity: Bytes,
}

/// Why a flow has no reservation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} frames are full that it cannot do without", full.len())]
pub struct Blocked {
    /// Full frames of which each choice of a first frame needs at least one, in their order: for each
    /// choice the first that a packet of the flow met.
    pub full: Vec<Full>,
}

/// What is reserved in a network.
#[derive(Clone, Debug)]
pub struct Ledger {
    period: u32,
    capacities: Vec<u64>,
    /// By output and frame of the period.
    reserved: Vec<u64>,
}

/// What a flow was given, or why nothing.
pub type Answer = Result<Slots, Blocked>;

/// How well a choice fits: the least room that it leaves in a frame that it uses, then how little the
/// frames hold that it uses.
type Fit = (u64, Reverse<u128>);

impl Flow {
    /// The fewest packets of this length in a period of so many frames that make up a rate.
    pub fn packets_for(rate: Rate, packet: Bytes, time: &CommonTime, period: u32) -> u32 {
        let length = u128::from(time.frame.0) * u128::from(period);
        let packet = u128::from(packet.0.max(1)) * u128::from(NANOBITS_PER_BYTE);
        let packets = (length * u128::from(rate.0)).div_ceil(packet);
        u32::try_from(packets.max(1)).unwrap_or(u32::MAX)
    }

    /// The frames from the one in which the first output sends a packet to that in which the last does.
    pub fn frames(&self) -> u64 {
        let hops = self.path.iter().skip(1);
        hops.map(|hop| u64::from(hop.delay) + u64::from(hop.propagation)).sum()
    }

    /// What the flow can count on with a reservation of so many frames' period.
    pub fn bounds(&self, time: &CommonTime, period: u32) -> Bounds {
        let frame = u128::from(time.frame.0);
        let nanos = |nanos: u128| Nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        let gap = (frame * u128::from(period)).div_ceil(u128::from(self.packets));
        Bounds {
            shaping: nanos(frame + gap),
            transit: nanos(frame * (u128::from(self.frames()) + 1)),
            jitter: nanos(2 * frame),
        }
    }

    /// By how many frames after the first output each one sends, modulo the period.
    fn lags(&self, period: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut lag = 0;
        self.path.iter().enumerate().map(move |(place, hop)| {
            if place > 0 {
                lag += u64::from(hop.delay) + u64::from(hop.propagation);
                lag %= u64::from(period);
            }
            (hop.output, lag as u32)
        })
    }
}

impl Ledger {
    /// Outputs of these [capacities](crate::sched::tdp::capacity) a frame, of which nothing is reserved;
    /// reservations repeat after so many frames, a cycle or a super cycle.
    ///
    /// # Panics
    /// If the period has no frames.
    pub fn new(period: u32, capacities: &[Bytes]) -> Self {
        assert!(period > 0, "the period has no frames");
        Ledger {
            period,
            capacities: capacities.iter().map(|capacity| capacity.0).collect(),
            reserved: alloc::vec![0; capacities.len() * period as usize],
        }
    }

    /// What is reserved in a frame of the period, at an output.
    pub fn reserved(&self, output: u32, frame: u32) -> Bytes {
        Bytes(self.reserved[self.cell(output, frame)])
    }

    /// Reserves for a flow, beside what is reserved.
    ///
    /// # Errors
    /// If no choice of its first frame fits.
    ///
    /// # Panics
    /// If the flow has no packets, or an output that is not there.
    pub fn reserve(&mut self, flow: &Flow) -> Answer {
        let mut best: Option<(Fit, u32)> = None;
        let mut full = BTreeSet::new();
        for start in 0..self.period / gcd(self.period, flow.packets) {
            match self.add(flow, start) {
                Ok(fit) => {
                    self.release(flow, self.slots(flow, start));
                    if best.is_none_or(|(other, _)| fit > other) {
                        best = Some((fit, start));
                    }
                }
                Err(frame) => {
                    full.insert(frame);
                }
            }
        }
        match best {
            Some((_, start)) => {
                let added = self.add(flow, start);
                debug_assert!(added.is_ok());
                Ok(self.slots(flow, start))
            }
            None => Err(Blocked { full: full.into_iter().collect() }),
        }
    }

    /// Gives back what was reserved for a flow.
    ///
    /// # Panics
    /// If that was not reserved.
    pub fn release(&mut self, flow: &Flow, slots: Slots) {
        for (output, frame) in uses(flow, slots) {
            let cell = self.cell(output, frame);
            self.reserved[cell] -= flow.packet.0;
        }
    }

    /// Reserves for as many of these flows as it finds room for, each as if it had come before those
    /// that are not placed.
    ///
    /// # Panics
    /// As [`reserve`](Self::reserve).
    pub fn reserve_all(&mut self, flows: &[Flow]) -> Vec<Answer> {
        let hardness =
            |flow: &Flow| (flow.packet, flow.path.len() as u64 * u64::from(flow.packets));
        let mut order: Vec<usize> = (0..flows.len()).collect();
        order.sort_by_key(|&flow| Reverse(hardness(&flows[flow])));
        let count = |answers: &[Answer]| answers.iter().filter(|answer| answer.is_err()).count();
        let mut best: Option<(Ledger, Vec<Answer>)> = None;
        for _ in 0..ROUNDS {
            let mut ledger = self.clone();
            let mut answers: Vec<_> =
                order.iter().map(|&flow| (flow, ledger.reserve(&flows[flow]))).collect();
            answers.sort_by_key(|(flow, _)| *flow);
            let answers: Vec<_> = answers.into_iter().map(|(_, answer)| answer).collect();
            order.sort_by_key(|&flow| answers[flow].is_ok());
            let blocked = count(&answers);
            if best.as_ref().is_none_or(|(_, fewest)| blocked < count(fewest)) {
                best = Some((ledger, answers));
            }
            if blocked == 0 {
                break;
            }
        }
        let Some((ledger, answers)) = best else { return Vec::new() };
        *self = ledger;
        answers
    }

    /// Adds up from nothing what these flows use, packet by packet.
    ///
    /// # Errors
    /// The first frame of the period, by output, that takes more than its capacity.
    ///
    /// # Panics
    /// As [`reserve`](Self::reserve).
    pub fn verify<'a>(
        &self,
        flows: impl IntoIterator<Item = (&'a Flow, Slots)>,
    ) -> Result<(), Full> {
        let mut sums: BTreeMap<(u32, u32), u128> = BTreeMap::new();
        for (flow, slots) in flows {
            for packet in 0..slots.packets {
                let mut frame = u64::from(slots.start) + u64::from(slots.offset(packet));
                for (place, hop) in flow.path.iter().enumerate() {
                    if place > 0 {
                        frame += u64::from(hop.delay) + u64::from(hop.propagation);
                    }
                    let frame = (frame % u64::from(self.period)) as u32;
                    *sums.entry((hop.output, frame)).or_default() += u128::from(flow.packet.0);
                }
            }
        }
        for ((output, frame), sum) in sums {
            let capacity = Bytes(self.capacities[output as usize]);
            if sum > capacity.0.into() {
                let reserved = Bytes(u64::try_from(sum).unwrap_or(u64::MAX));
                return Err(Full { output, frame, reserved, capacity });
            }
        }
        Ok(())
    }

    /// Adds what a flow uses, or nothing if some frame has no room for it.
    fn add(&mut self, flow: &Flow, start: u32) -> Result<Fit, Full> {
        let slots = self.slots(flow, start);
        let (mut room, mut held) = (u64::MAX, 0);
        for (added, (output, frame)) in uses(flow, slots).enumerate() {
            let cell = self.cell(output, frame);
            let capacity = self.capacities[output as usize];
            let reserved = self.reserved[cell];
            if flow.packet.0 > capacity - reserved {
                for (output, frame) in uses(flow, slots).take(added) {
                    let cell = self.cell(output, frame);
                    self.reserved[cell] -= flow.packet.0;
                }
                let reserved = self.reserved(output, frame);
                return Err(Full { output, frame, reserved, capacity: Bytes(capacity) });
            }
            self.reserved[cell] += flow.packet.0;
            room = room.min(capacity - self.reserved[cell]);
            held += u128::from(reserved);
        }
        Ok((room, Reverse(held)))
    }

    fn slots(&self, flow: &Flow, start: u32) -> Slots {
        assert!(flow.packets > 0, "a flow has no packets");
        Slots { start, packets: flow.packets, period: self.period }
    }

    fn cell(&self, output: u32, frame: u32) -> usize {
        output as usize * self.period as usize + frame as usize
    }
}

/// The outputs and frames that a flow uses, once for each of its packets.
fn uses(flow: &Flow, slots: Slots) -> impl Iterator<Item = (u32, u32)> + '_ {
    let wrap = move |frame: u64| (frame % u64::from(slots.period)) as u32;
    flow.lags(slots.period).flat_map(move |(output, lag)| {
        let first = wrap(u64::from(lag) + u64::from(slots.start));
        (0..slots.packets)
            .map(move |packet| (output, wrap(u64::from(first) + u64::from(slots.offset(packet)))))
    })
}
