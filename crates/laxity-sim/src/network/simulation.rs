//! The state of a network while it runs. The files beside this one say what happens to it: who
//! sends, what passes an output, and what comes to a receiver.

use laxity::packet::{ClassId, FlowId};
use laxity::police::Policer;
use laxity::units::Nanos;
use laxity_plan::model::{Hop, LinkId};

use super::agenda::{Agenda, Slots};
use super::ahead::Ahead;
use super::carried::HopBooks;
use super::connections::Connections;
use super::flow::{ClassBooks, Flow};
use super::foreseen::Foreseen;
use super::parallel::Mail;
use super::partition::Partition;
use super::run::NetworkRun;
use super::single::Single;
use super::topology::Topology;
use super::transit::Transits;
use crate::source::Feed;
use crate::source::closed_loop::ClosedLoop;

/// What is known of a network's outputs and flows while it runs.
pub(crate) struct Simulation<'a, O> {
    pub(super) run: NetworkRun<'a>,
    pub(super) end: Nanos,
    /// The end of the warm-up.
    pub(super) measured_from: Nanos,
    pub(super) topology: Topology<'a>,
    /// What goes to other parts, by part.
    pub(super) outbox: Vec<Mail>,
    /// By twice the number of a link, and one for the way back.
    pub(super) books: Vec<HopBooks>,
    pub(super) flows: Vec<Flow>,
    pub(super) connections: Connections,
    pub(super) classes: Vec<ClassBooks>,
    pub(super) policer: Policer,
    pub(super) sources: Vec<Fed>,
    /// The packets of backlogged sources, by the loops of the outputs that they feed.
    pub(super) loops: Vec<ClosedLoop>,
    pub(super) transits: Transits,
    pub(super) agenda: Agenda,
    pub(super) slots: Slots,
    pub(super) ahead: Ahead,
    /// The outputs at which packets came at this instant that others may have come with, where
    /// departures are known on arrival.
    pub(super) tied: Vec<u32>,
    /// What is known to come to hosts that answer before their time.
    pub(super) foreseen: Vec<Foreseen>,
    pub(super) hops: u64,
    pub(crate) observer: O,
    /// Which part of the network this is.
    pub(super) here: Here<'a>,
    /// When it was last not over.
    pub(super) last: Nanos,
    /// Whether there are streams whose windows are watched at every hop.
    pub(super) watches: bool,
    /// What is counted of a run over one link, if it is one.
    pub(super) single: Option<Box<Single>>,
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
    pub(super) fn has(&self, node: u32) -> bool {
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
    pub(super) fn of(&self, class: ClassId, copy: FlowId) -> Option<usize> {
        match self {
            Flows::Copies(first) => Some((first + copy.0) as usize),
            Flows::Classes(flows) => flows[class.index()].map(|flow| flow as usize),
        }
    }
}

/// The hop that books are of.
pub(super) fn hop_of(books: u32) -> Hop {
    Hop { link: LinkId(books / 2), backward: books % 2 == 1 }
}
