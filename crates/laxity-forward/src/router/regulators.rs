//! Regulators in front of a router's outputs: packets that came closer together on their way than
//! their class's arrival curve allows are held until they keep to it again.
//!
//! A class passes a node once, so that it has one regulator there at most.

use laxity::packet::{ClassId, Packet};
use laxity::queue::SortedFifos;
use laxity::regulator::Regulator;
use laxity::units::Nanos;
use laxity_plan::Plan;

use super::output::Waiting;

#[cfg(test)]
mod tests;

/// The regulators of a router, and what they hold.
pub(super) struct Regulators {
    regulators: Vec<(ClassId, Regulator)>,
    /// By regulator, and by release; of packets with the same release the one that came first is
    /// first.
    held: SortedFifos<(u128, u64), (usize, Waiting)>,
    /// How many packets have come.
    count: u64,
}

impl Regulators {
    /// Those of these classes, with nothing held. All of them have an arrival curve.
    pub(super) fn new(plan: &Plan, classes: &[ClassId]) -> Self {
        let regulator = |class: &ClassId| {
            Some((*class, Regulator::new(plan.meter(&plan.classes[class.index()])?)))
        };
        Regulators {
            regulators: classes.iter().filter_map(regulator).collect(),
            held: SortedFifos::new(classes.len(), (u128::MAX, u64::MAX)),
            count: 0,
        }
    }

    /// A packet is held on its way to a port, by the regulator of this number.
    pub(super) fn hold(&mut self, number: usize, port: usize, waiting: Waiting) {
        let Packet { arrival, length, .. } = waiting.packet;
        let release = self.regulators[number].1.release(arrival, length);
        self.held.push(number, (release.0.into(), self.count), (port, waiting));
        self.count += 1;
    }

    /// The next packet that goes on by this time, and to which port. It arrives there at its
    /// release.
    pub(super) fn next(&mut self, until: Nanos) -> Option<(usize, Waiting)> {
        let (number, release) = self.first().filter(|(_, release)| *release <= until)?;
        let (port, waiting) = self.held.pop(number)?;
        let packet = Packet { arrival: release, ..waiting.packet };
        Some((port, Waiting { packet, ..waiting }))
    }

    /// When the next packet goes on.
    pub(super) fn due(&mut self) -> Option<Nanos> {
        self.first().map(|(_, release)| release)
    }

    /// What comes from now on is held to the curves of another plan with the same regulators, where
    /// these are others.
    pub(super) fn follow(&mut self, plan: &Plan, before: &Plan) {
        for (class, regulator) in &mut self.regulators {
            let [next, last] = [plan, before].map(|plan| plan.meter(&plan.classes[class.index()]));
            if let Some(meter) = next.filter(|next| Some(next) != last.as_ref()) {
                regulator.follow(meter);
            }
        }
    }

    fn first(&mut self) -> Option<(usize, Nanos)> {
        let (number, (release, _)) = self.held.least()?;
        Some((number, Nanos(u64::try_from(release).unwrap_or(u64::MAX))))
    }
}
