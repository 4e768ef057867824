//! Regulators in front of outputs: packets that come over a link and are held until they keep to
//! the arrival curve of their class again.
//!
//! A packet's release follows from those that came the same way before it. They all have come over
//! the link before, so that it is known when the packet is sent there.

use std::collections::HashMap;
use std::sync::Arc;

use laxity::packet::ClassId;
use laxity::regulator::Regulator;
use laxity::units::Nanos;
use laxity_plan::model::Hop;
use laxity_plan::network::Networked;

use crate::network::plane::transit::Transit;

/// A regulator for each class and way on which its packets come to an output that is regulated.
pub(crate) struct Regulators {
    /// By class, whether its packets are held anywhere; empty where none are.
    in_order: Arc<[bool]>,
    regulators: Vec<Regulator>,
    /// By the positions of all routes, which of them packets pass on the way to that step; empty
    /// where there are none.
    steps: Vec<Option<u32>>,
    known: HashMap<Way, u32>,
}

/// How packets come to a regulator: their class, the regulator before, and the links from there.
type Way = (ClassId, Option<u32>, Box<[Hop]>);

impl Regulators {
    /// Those of a network without routes.
    pub(crate) fn new(on: Networked<'_>) -> Self {
        let is_any = on.network.links.iter().any(|link| link.regulate);
        let classes = on.plan.classes.iter().filter(|_| is_any);
        Regulators {
            in_order: classes.map(|class| class.arrival.is_some()).collect(),
            regulators: Vec::new(),
            steps: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// A route is added to all others.
    pub(crate) fn lay(&mut self, on: Networked<'_>, class: ClassId, path: &[Hop]) {
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

    /// All routes are laid.
    pub(crate) fn close(&mut self) {
        self.known = HashMap::new();
        self.steps.shrink_to_fit();
    }

    /// By class, whether its packets are to stay in their order wherever they pass, since
    /// regulators count on it.
    pub(crate) fn in_order(&self) -> Arc<[bool]> {
        self.in_order.clone()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.regulators.is_empty()
    }

    /// When a packet goes on that comes to the other end of its link, behind all that it is to stay
    /// behind. Best effort is not held.
    pub(crate) fn release(&mut self, transit: &Transit, arrival: Nanos) -> Nanos {
        let number = self.steps.get(transit.at.index() + 1).copied().flatten();
        match number.filter(|_| !transit.demoted) {
            Some(number) => self.regulators[number as usize].release(arrival, transit.length),
            None => arrival,
        }
    }
}
