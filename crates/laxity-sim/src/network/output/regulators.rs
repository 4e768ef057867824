//! Regulators in front of outputs. They hold packets that come over a link until these keep to the
//! arrival curve of their class again.
//!
//! The release of a packet follows from packets that came the same way before. All have passed the
//! same link, so that it is known when the packet is sent there.

use std::collections::HashMap;
use std::sync::Arc;

use laxity::packet::ClassId;
use laxity::regulator::Regulator;
use laxity::units::Nanos;
use laxity_plan::model::Hop;
use laxity_plan::network::NetworkPlan;

use crate::network::plane::transit::Transit;

/// The regulators of a network: one for each class and way to an output that is regulated.
pub(crate) struct Regulators {
    /// By class: whether its packets are held anywhere. Empty if none are.
    in_order: Arc<[bool]>,
    regulators: Vec<Regulator>,
    /// By step: the regulator on the way to it. Empty if there are none.
    steps: Vec<Option<u32>>,
    known: HashMap<Way, u32>,
}

/// A way to a regulator: the class, the regulator before, and the hops from there.
type Way = (ClassId, Option<u32>, Box<[Hop]>);

impl Regulators {
    /// The regulators of a network without routes.
    pub(crate) fn new(on: NetworkPlan<'_>) -> Self {
        let is_any = on.network.links.iter().any(|link| link.regulate);
        let classes = on.plan.classes.iter().filter(|_| is_any);
        Regulators {
            in_order: classes.map(|class| class.arrival.is_some()).collect(),
            regulators: Vec::new(),
            steps: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// Adds a route behind all others.
    pub(crate) fn lay(&mut self, on: NetworkPlan<'_>, class: ClassId, path: &[Hop]) {
        if self.in_order.is_empty() {
            return;
        }
        let first = self.steps.len();
        self.steps.resize(first + path.len(), None);
        let Some(meter) = on.plan.meter(&on.plan.classes[class.index()]) else { return };
        let (mut before, mut from) = (None, 0);
        for place in on.plan.regulated(class, path) {
            let next = self.regulators.len() as u32;
            let way = (class, before, Box::from(&path[from..=place]));
            let number = *self.known.entry(way).or_insert(next);
            if number == next {
                self.regulators.push(Regulator::new(meter.clone()));
            }
            self.steps[first + place] = Some(number);
            (before, from) = (Some(number), place);
        }
    }

    /// Frees memory when all routes are laid.
    pub(crate) fn close(&mut self) {
        self.known = HashMap::new();
        self.steps.shrink_to_fit();
    }

    /// By class: whether its packets stay in order everywhere, since regulators rely on it.
    pub(crate) fn in_order(&self) -> Arc<[bool]> {
        self.in_order.clone()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.regulators.is_empty()
    }

    /// When a packet that arrives at the other end of its link is released, after all that it must
    /// stay behind. Best effort is not held.
    pub(crate) fn release(&mut self, transit: &Transit, arrival: Nanos) -> Nanos {
        let number = self.steps.get(transit.at.index() + 1).copied().flatten();
        match number.filter(|_| !transit.demoted) {
            Some(number) => self.regulators[number as usize].release(arrival, transit.length),
            None => arrival,
        }
    }
}
