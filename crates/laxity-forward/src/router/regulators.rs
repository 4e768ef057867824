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
use super::renumbering::Renumbering;

#[cfg(test)]
mod tests;

/// The regulators of a router, and what they hold.
pub(super) struct Regulators {
    regulators: Vec<(ClassId, Regulator)>,
    /// By regulator, and by release; of packets with the same release the one that came first is
    /// first. Behind the last regulator is what those held that are there no longer.
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
            held: SortedFifos::new(classes.len() + 1, (u128::MAX, u64::MAX)),
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

    /// What comes from now on is held by the regulators of another plan, which hold nothing yet.
    /// One of a class that stays knows what went before, and goes on with its meter if the curve
    /// is the same. What is held goes on when it was to; each packet is changed to what it is
    /// under that plan.
    pub(super) fn follow(
        &mut self,
        mut next: Regulators,
        numbers: &Renumbering<'_>,
        mut change: impl FnMut(&mut Waiting),
    ) {
        let place = |(class, regulator): &(ClassId, Regulator)| {
            let now = numbers.get(*class)?;
            let place = next.regulators.iter().position(|(class, _)| *class == now)?;
            let mut regulator = regulator.clone();
            let [last, meter] = numbers.meters([*class, now]);
            if let Some(meter) = meter.filter(|meter| Some(meter) != last.as_ref()) {
                regulator.follow(meter);
            }
            next.regulators[place].1 = regulator;
            Some(place)
        };
        let places: Vec<_> = self.regulators.iter().map(place).collect();
        let others = next.regulators.len();
        while let Some((number, key)) = self.held.least() {
            let Some((port, mut waiting)) = self.held.pop(number) else { break };
            change(&mut waiting);
            let place = places.get(number).copied().flatten();
            next.held.push(place.unwrap_or(others), key, (port, waiting));
        }
        *self = Regulators { count: self.count, ..next };
    }

    fn first(&mut self) -> Option<(usize, Nanos)> {
        let (number, (release, _)) = self.held.least()?;
        Some((number, Nanos(u64::try_from(release).unwrap_or(u64::MAX))))
    }
}
