//! The state of a network while it runs. The files beside this one say what happens to it: who sends,
//! what passes an output, and what comes to a receiver.

use laxity::packet::{ClassId, FlowId};
use laxity::police::Policer;
use laxity::units::Nanos;
use laxity_plan::model::Hop;

use super::agenda::{Agenda, Slots};
use super::ahead::Ahead;
use super::carried::HopBooks;
use super::connections::Connections;
use super::flow::{ClassBooks, Flow};
use super::foreseen::Foreseen;
use super::parallel::Mail;
use super::partition::Partition;
use super::run::NetworkRun;
use super::topology::Topology;
use super::transit::Transits;
use crate::source::Feed;
use crate::source::closed_loop::ClosedLoop;

/// What is known of a network's outputs and flows while it runs.
pub(super) struct Simulation<'a, O> {
    pub run: NetworkRun<'a>,
    pub end: Nanos,
    /// The end of the warm-up.
    pub measured_from: Nanos,
    pub topology: Topology<'a>,
    /// What goes to other parts, by part.
    pub outbox: Vec<Mail>,
    /// By twice the number of a link, and one for the way back.
    pub books: Vec<HopBooks>,
    pub flows: Vec<Flow>,
    pub connections: Connections,
    pub classes: Vec<ClassBooks>,
    pub policer: Policer,
    pub sources: Vec<Fed>,
    /// The packets of backlogged sources, by the loops of the outputs that they feed.
    pub loops: Vec<ClosedLoop>,
    pub transits: Transits,
    pub agenda: Agenda,
    pub slots: Slots,
    pub ahead: Ahead,
    /// The outputs at which packets came at this instant that others may have come with, where departures are known on
    /// arrival.
    pub tied: Vec<u32>,
    /// What is known to come to hosts that answer before their time.
    pub foreseen: Vec<Foreseen>,
    pub hops: u64,
    pub observer: &'a mut O,
    /// Which part of the network this is.
    pub here: Here<'a>,
    /// When it was last not over.
    pub last: Nanos,
}

/// One part of a network that is simulated in parts, or all of it.
#[derive(Clone, Copy)]
pub(super) struct Here<'a> {
    pub partition: &'a Partition,
    pub part: u32,
    /// Whether anybody listens, who is told everything in the order of the agenda.
    pub is_told: bool,
}

impl Here<'_> {
    /// Whether a node is in this part.
    pub fn has(&self, node: u32) -> bool {
        self.partition.part(node) == self.part
    }
}

/// A source that hears nothing of the other end.
pub(super) struct Fed {
    pub feed: Feed,
    /// Whether it sends from this part of the network.
    pub is_here: bool,
    pub flows: Flows,
}

/// Which flows a source has.
pub(super) enum Flows {
    /// One a copy, from this on.
    Copies(u32),
    /// One a class, by number.
    Classes(Vec<Option<u32>>),
}

impl Flows {
    /// The flow of a class and a copy.
    pub fn of(&self, class: ClassId, copy: FlowId) -> Option<usize> {
        match self {
            Flows::Copies(first) => Some((first + copy.0) as usize),
            Flows::Classes(flows) => flows[class.index()].map(|flow| flow as usize),
        }
    }
}

/// The hop that books are of.
pub(super) fn hop_of(books: u32) -> Hop {
    Hop { link: books / 2, backward: books % 2 == 1 }
}
