//! The reservations of a network.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::pattern::Pattern;
use super::{Flow, Full, OutputId, Reservation};
use crate::units::Bytes;

/// The bytes reserved in every frame of every output.
#[derive(Clone, Debug)]
pub struct Ledger {
    period: u32,
    capacities: Vec<u64>,
    /// By output and frame of the period.
    reserved: Vec<u64>,
}

impl Ledger {
    /// Outputs of these [capacities](crate::sched::tdp::capacity) per frame, without reservations.
    /// Reservations repeat after `period` frames, a cycle or a super cycle.
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

    /// The frames after which reservations repeat.
    pub fn period(&self) -> u32 {
        self.period
    }

    /// All outputs.
    pub fn outputs(&self) -> impl Iterator<Item = OutputId> {
        (0..self.capacities.len()).map(OutputId::from_index)
    }

    /// Whether nothing is reserved.
    pub fn is_empty(&self) -> bool {
        self.reserved.iter().all(|bytes| *bytes == 0)
    }

    /// Bytes reserved in a frame of the period, at an output.
    pub fn reserved(&self, output: OutputId, frame: u32) -> Bytes {
        Bytes(self.reserved[self.cell(output, frame)])
    }

    /// Bytes that can be reserved in a frame, at an output.
    pub fn capacity(&self, output: OutputId) -> Bytes {
        Bytes(self.capacities[output.index()])
    }

    /// Bytes that can still be reserved in a frame of the period, at an output.
    pub fn room(&self, output: OutputId, frame: u32) -> Bytes {
        Bytes(self.capacity(output).0 - self.reserved(output, frame).0)
    }

    /// Adds a reservation that was chosen elsewhere. Its delays are taken as they are.
    ///
    /// # Errors
    /// The first frame without room for a packet of the flow; then no bytes are reserved.
    ///
    /// # Panics
    /// As [`reserve`](Self::reserve), or if the reservation has another period or number of
    /// packets.
    pub fn reserve_as(&mut self, flow: &Flow, reservation: &Reservation) -> Result<(), Full> {
        let uses = self.uses(flow, reservation);
        for (added, &(output, frame, packets)) in uses.iter().enumerate() {
            let cell = self.cell(output, frame);
            let more = u128::from(flow.packet.0) * u128::from(packets);
            if more > u128::from(self.capacities[output.index()] - self.reserved[cell]) {
                for &(output, frame, packets) in &uses[..added] {
                    let cell = self.cell(output, frame);
                    self.reserved[cell] -= flow.packet.0 * packets;
                }
                return Err(self.full(output, frame));
            }
            self.reserved[cell] += more as u64;
        }
        Ok(())
    }

    /// Takes what a reservation needs, or what is left where that is less: no other flow gets room
    /// there.
    ///
    /// # Panics
    /// As [`reserve_as`](Self::reserve_as).
    pub fn fill(&mut self, flow: &Flow, reservation: &Reservation) {
        for (output, frame, packets) in self.uses(flow, reservation) {
            let more = flow.packet.0.saturating_mul(packets).min(self.room(output, frame).0);
            let cell = self.cell(output, frame);
            self.reserved[cell] += more;
        }
    }

    /// Removes the reservation of a flow.
    ///
    /// # Panics
    /// If it was not reserved.
    pub fn release(&mut self, flow: &Flow, reservation: &Reservation) {
        for (output, frame, packets) in self.uses(flow, reservation) {
            let cell = self.cell(output, frame);
            self.reserved[cell] -= flow.packet.0 * packets;
        }
    }

    /// Recounts the bytes that these flows use, packet by packet.
    ///
    /// # Errors
    /// The first frame of the period, by output, that exceeds its capacity.
    ///
    /// # Panics
    /// As [`reserve`](Self::reserve).
    pub fn verify<'a>(
        &self,
        flows: impl IntoIterator<Item = (&'a Flow, &'a Reservation)>,
    ) -> Result<(), Full> {
        let mut sums: BTreeMap<(OutputId, u32), u128> = BTreeMap::new();
        for (flow, Reservation { slots, delays }) in flows {
            for packet in 0..slots.packets {
                let mut frame = u64::from(slots.start) + u64::from(slots.offset(packet));
                for (place, (hop, &delay)) in flow.path.iter().zip(delays).enumerate() {
                    if place > 0 {
                        frame += u64::from(delay) + u64::from(hop.propagation);
                    }
                    let frame = (frame % u64::from(self.period)) as u32;
                    *sums.entry((hop.output, frame)).or_default() += u128::from(flow.packet.0);
                }
            }
        }
        for ((output, frame), sum) in sums {
            let capacity = self.capacity(output);
            if sum > capacity.0.into() {
                let reserved = Bytes(u64::try_from(sum).unwrap_or(u64::MAX));
                return Err(Full { output, frame, reserved, capacity });
            }
        }
        Ok(())
    }

    /// The error for a full frame, with the bytes reserved now.
    pub(super) fn full(&self, output: OutputId, frame: u32) -> Full {
        let (reserved, capacity) = (self.reserved(output, frame), self.capacity(output));
        Full { output, frame, reserved, capacity }
    }

    /// The outputs and frames that a flow uses, with for how many packets.
    pub(super) fn uses(&self, flow: &Flow, reservation: &Reservation) -> Vec<(OutputId, u32, u64)> {
        let Reservation { slots, delays } = reservation;
        assert_eq!((slots.packets, slots.period), (flow.packets, self.period));
        assert_eq!(delays.len(), flow.path.len());
        let pattern = Pattern::new(self.period, flow.packets);
        let mut uses = Vec::new();
        for (hop, first) in flow.path.iter().zip(flow.first_frames(reservation)) {
            let frames = pattern.frames(first);
            uses.extend(frames.map(|(frame, packets)| (hop.output, frame, packets)));
        }
        uses
    }

    fn cell(&self, output: OutputId, frame: u32) -> usize {
        output.index() * self.period as usize + frame as usize
    }
}
