//! What sends packets into a network.

pub(super) mod captured;
pub(super) mod connections;
pub(super) mod early_answers;
pub(super) mod endpoints;
pub(super) mod receiving;
pub(super) mod sending;
pub(super) mod sources;

use laxity::packet::{ClassId, FlowId};
use laxity::units::Nanos;

use self::captured::CapturedHosts;
use self::connections::Connections;
use super::ids::FlowKey;
use crate::calendar::Calendar;
use crate::source::{Feed, FeedId};

/// The sources of a network, and the ends of its connections before they are needed.
#[derive(Default)]
pub(super) struct Hosts {
    pub sources: Vec<Sending>,
    pub connections: Connections,
    /// If outputs may have to know them.
    pub captured: Option<CapturedHosts>,
}

/// A source without feedback from its receivers.
pub(super) struct Sending {
    pub feed: Feed,
    /// Whether it sends from this part of the network.
    pub is_here: bool,
    pub flows: SourceFlows,
}

/// The flows of a source.
pub(super) enum SourceFlows {
    /// One for each copy, from this one on.
    Copies(FlowKey),
    /// By class.
    Classes(Vec<Option<FlowKey>>),
}

impl SourceFlows {
    /// The flow of a class and a copy.
    pub(super) fn flow(&self, class: ClassId, copy: FlowId) -> Option<FlowKey> {
        match self {
            SourceFlows::Copies(first) => Some(FlowKey(first.0 + copy.0)),
            SourceFlows::Classes(flows) => flows[class.index()],
        }
    }

    /// The first flow.
    pub(super) fn first(&self) -> Option<FlowKey> {
        match self {
            SourceFlows::Copies(first) => Some(*first),
            SourceFlows::Classes(flows) => flows.iter().flatten().next().copied(),
        }
    }
}

/// What comes next to the only link of a run.
#[derive(Default)]
pub(super) struct Upcoming {
    pub calendar: Calendar<Entrance>,
    /// Packets that have come.
    pub arrived: u64,
    pub last_arrival: Nanos,
}

/// What comes to the only link of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Entrance {
    /// The next packet of a source, or the first ones of a backlogged source.
    Source(FeedId),
    /// Packets of backlogged sources that try again.
    Retry,
}
