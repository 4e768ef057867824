//! What is reserved in a network for time-driven priority.

use laxity::admit::tdp::Answer;
use laxity::packet::ClassId;

use crate::model::LinkId;

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

    /// The frame in which each link with frames sends the first packet of a class, as
    /// [`Class::frame_at`](crate::model::Class::frame_at) has it. `None` if the class was refused
    /// frames somewhere.
    pub fn first_frames(&self, class: ClassId) -> Option<Vec<(LinkId, u32)>> {
        let paths = self.framed.plan.class_paths();
        let mut frames = Vec::new();
        for (stretch, answer) in self.stretches(class) {
            let links = paths[class.index()][stretch.hops.clone()].iter().map(|hop| hop.link);
            frames.extend(links.zip(stretch.flow.first_frames(answer.as_ref().ok()?)));
        }
        Some(frames)
    }

    /// The stretches of a class, with what they were given.
    pub fn stretches(&self, class: ClassId) -> impl Iterator<Item = (&Stretch, &Answer)> {
        let numbers = self.demand.stretches_of(class);
        let answers = &self.reservations.answers[numbers.clone()];
        self.demand.stretches[numbers].iter().zip(answers)
    }
}
