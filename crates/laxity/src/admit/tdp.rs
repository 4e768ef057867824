//! Reservation for [time-driven priority](crate::sched::tdp) (Baldi et al. 2006, sections II.A and
//! II.B): in which frames each flow sends, so that no frame of any output takes more than its
//! capacity.
//!
//! A packet that the first output of a flow sends in frame t is sent by each later one in the frame
//! that lies as much later as the forwarding delays on the way sum up to. With immediate forwarding
//! those are given, so that one frame, that of the first packet of a period, fixes all frames of a
//! flow; with non-immediate forwarding the delays are a choice, too. The paper leaves choosing to
//! signalling, which it does not describe; its experiments are reserved by hand (section IV). The
//! problem is as hard as bin packing. Here every flow gets the frames that leave most room where
//! they leave least, the flows that are hardest to place first; then, as long as some do not fit,
//! those are placed first in another round (squeaky wheel optimization: Joslin, Clements 1999).

mod all;
mod label_setting;
mod ledger;
mod pattern;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use num_integer::gcd;

use crate::sched::tdp::{CommonTime, Slots};
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

pub use ledger::Ledger;

crate::id! {
    /// An output of a network: its position among the capacities of a [`Ledger`].
    pub struct OutputId;
}

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
    /// The output.
    pub output: OutputId,
    /// The forwarding delay d: the output sends a packet `delay` frames after the output before it,
    /// not counting `propagation`. Ignored at the first output.
    pub delay: u32,
    /// By how many frames the forwarding delay may be longer for this flow: none with immediate
    /// forwarding. Counts for nothing at the first output.
    pub spare: u32,
    /// Whole frames for the link to this output, if the delay does not include them.
    pub propagation: u32,
}

/// The reserved frames of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// When its first output sends.
    pub slots: Slots,
    /// The forwarding delay of each hop, from its `delay` to `spare` more. The first counts for
    /// nothing.
    pub delays: Vec<u32>,
}

/// The guarantee of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// No packet waits longer at an [edge](crate::sched::tdp::Edge) until the frame in which it is
    /// sent, if the flow's packets come no closer than a period's k-th part.
    pub shaping: Nanos,
    /// No packet takes longer from the beginning of that frame until its last bit leaves the last
    /// output: the forwarding delays and the frame.
    pub transit: Nanos,
    /// The time from when a packet's transmission by the first output begins until it has left the
    /// last one varies by less than this: two frames.
    pub jitter: Nanos,
}

/// A frame of a period, at an output, that has no room for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Full {
    /// The output.
    pub output: OutputId,
    /// The frame's number in the period.
    pub frame: u32,
    /// Bytes reserved by others.
    pub reserved: Bytes,
    /// The capacity of the frame in bytes.
    pub capacity: Bytes,
}

/// Why a flow has no reservation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} frames are full that it cannot do without", full.len())]
pub struct ReservationError {
    /// Full frames in ascending order, at least one for every choice: the first that a packet of
    /// the flow met.
    pub full: Vec<Full>,
    /// Whether each choice was tried: always, unless the flow may be forwarded later than
    /// immediately and passes an output more than once.
    pub certain: bool,
}

/// The reservation of a flow, or the reason why there is none.
pub type Answer = Result<Reservation, ReservationError>;

impl Flow {
    /// The fewest packets of this length per period of `period` frames that make up a rate.
    pub fn packets_for(rate: Rate, packet: Bytes, time: &CommonTime, period: u32) -> u32 {
        let length = u128::from(time.frame.0) * u128::from(period);
        let packet = u128::from(packet.0.max(1)) * u128::from(NANOBITS_PER_BYTE);
        let packets = (length * u128::from(rate.0)).div_ceil(packet);
        u32::try_from(packets.max(1)).unwrap_or(u32::MAX)
    }

    /// After how many frames of a period the pattern of its packets repeats.
    pub fn repeat(&self, period: u32) -> u32 {
        period / gcd(period, self.packets)
    }

    /// The frame of the period in which each output sends the packet that is the first of a period
    /// at the first output.
    pub fn first_frames<'a>(
        &'a self,
        Reservation { slots, delays }: &'a Reservation,
    ) -> impl Iterator<Item = u32> + 'a {
        let mut frame = u64::from(slots.start);
        self.path.iter().zip(delays).enumerate().map(move |(place, (hop, &delay))| {
            if place > 0 {
                frame += u64::from(delay) + u64::from(hop.propagation);
            }
            (frame % u64::from(slots.period)) as u32
        })
    }

    /// The reservation that has these [first frames](Self::first_frames), one for each hop of the
    /// path.
    ///
    /// # Errors
    /// The first hop that would wait longer than its `spare` allows, by its position on the path.
    ///
    /// # Panics
    /// If there are fewer frames than hops.
    pub fn reservation_in(&self, period: u32, frames: &[u32]) -> Result<Reservation, usize> {
        let repeat = u64::from(self.repeat(period));
        let mut delays = alloc::vec![0; self.path.len()];
        for (place, hop) in self.path.iter().enumerate().skip(1) {
            let [before, frame] = [frames[place - 1], frames[place]].map(u64::from);
            let soonest = (before + u64::from(hop.delay) + u64::from(hop.propagation)) % repeat;
            let extra = ((frame + repeat - soonest) % repeat) as u32;
            if extra > hop.spare {
                return Err(place);
            }
            delays[place] = hop.delay + extra;
        }
        let slots = Slots { start: frames[0] % period, packets: self.packets, period };
        Ok(Reservation { slots, delays })
    }

    /// The frames from the one in which the first output sends a packet to that in which the last
    /// does.
    pub fn frames(&self, reservation: &Reservation) -> u64 {
        let hops = self.path.iter().zip(&reservation.delays).skip(1);
        hops.map(|(hop, &delay)| u64::from(delay) + u64::from(hop.propagation)).sum()
    }

    /// The guarantee of the flow with a reservation.
    pub fn bounds(&self, time: &CommonTime, reservation: &Reservation) -> Bounds {
        let frame = u128::from(time.frame.0);
        let nanos = |nanos: u128| Nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        let Slots { packets, period, .. } = reservation.slots;
        let gap = (frame * u128::from(period)).div_ceil(u128::from(packets));
        Bounds {
            shaping: nanos(frame + gap),
            transit: nanos(frame * (u128::from(self.frames(reservation)) + 1)),
            jitter: nanos(2 * frame),
        }
    }
}
