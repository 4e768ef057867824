//! What is reserved in a network for time-driven priority.

use laxity::admit::tdp::Answer;
use laxity::packet::ClassId;

use super::{Demand, FramedNetwork, Reservations, Stretch};

/// What is reserved in a network, and what follows from it.
#[derive(Clone, Debug)]
pub struct Framing<'a> {
    /// Where.
    pub framed: FramedNetwork<'a>,
    /// What was asked for.
    pub demand: Demand,
    /// What was reserved for it.
    pub reservations: Reservations,
}

impl<'a> Framing<'a> {
    /// Reserves what is asked for.
    pub fn new(framed: FramedNetwork<'a>) -> Framing<'a> {
        let demand = framed.demand();
        let reservations = demand.reserve(framed.spec);
        Framing { framed, demand, reservations }
    }

    /// The stretches of a class, with what they were given.
    pub fn stretches(&self, class: ClassId) -> impl Iterator<Item = (&Stretch, &Answer)> {
        let stretches = &self.demand.stretches;
        let first = stretches.partition_point(|stretch| stretch.class < class);
        let both = stretches[first..].iter().zip(&self.reservations.answers[first..]);
        both.take_while(move |(stretch, _)| stretch.class == class)
    }
}
