//! The typed plan: what a TOML file means once every name is resolved and every value is valid.
//!
//! Data alone; what is built from it and proved of it stands in the modules beside it.

mod autorate;
mod class;
mod network;
pub(crate) mod queue;
mod request;
pub(crate) mod scheduler;
mod source;
mod tcp;
mod threads;
mod wire;

use std::path::PathBuf;
use std::sync::Arc;

use laxity::link::{Link, Trace};
pub use laxity::overhead::{Framing, Overhead};
use laxity::packet::ClassId;
pub use laxity::police::{Police, TokenBucket};
use laxity::sched::hfsc::Curves;
use laxity::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};
pub use laxity::window::Loss;

use crate::edit;
pub use autorate::{AutorateSpec, BehindSpec};
pub use class::{Arrival, Class, Weight};
pub use network::{Clock, Hop, Hops, LinkId, Network, NetworkLink, Node, NodeId};
pub use queue::{DropTailSpec, QueueLimit, QueueSpec};
pub use request::{CallTimes, RecordedCall, RequestSpec};
pub use scheduler::{
    Assignment, BestEffort, BestEffortOrder, CakeSpec, EdfSpec, Late, SchedulerSpec, Scheduling,
    TdpSpec,
};
pub use source::{Dist, Model, ModelSource, Recording, Source, SourceId};
pub use tcp::{TcpCongestion, TcpRecovery, TcpSlowStart, TcpSource, TcpTimer, TcpVariant};
pub use threads::ThreadsSpec;
pub use wire::{Reorder, WireLoss, WireSpec};

/// A whole plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What it is about, for headings.
    pub title: Option<String>,
    /// The link that is shared; in a network, what its links have unless they say otherwise.
    pub link: LinkSpec,
    /// The files that were read with it, and that it is not whole without.
    pub files: Vec<PlanFile>,
    /// The links of a network; without one, all traffic shares `link`.
    pub network: Option<Network>,
    /// The discipline that shares it.
    pub scheduler: SchedulerSpec,
    /// The queue that all classes share that have none of their own. Default no limit.
    pub queue: Option<QueueSpec>,
    /// The classes, in the order of the file; [`ClassId`] counts in this order. Never empty.
    pub classes: Vec<Class>,
    /// The traffic of a simulation.
    pub sources: Vec<Source>,
    /// The calls of a simulation, each of another class. Their classes and sources stand for those
    /// of one call.
    pub requests: Vec<RequestSpec>,
    /// How long a simulation lasts unless the command says otherwise.
    pub run: RunSpec,
}

/// A file that a plan names and that is read with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFile {
    /// The key that names it.
    pub key: edit::Path,
    /// Where it is, as seen from the working directory.
    pub file: PathBuf,
    /// What it holds.
    pub text: Arc<str>,
}

impl Plan {
    /// The class of a name.
    pub fn class(&self, name: &str) -> Option<ClassId> {
        self.classes.iter().position(|class| class.name == name).map(|at| ClassId(at as u32))
    }

    /// The classes that have packets, with their numbers.
    pub fn leaves(&self) -> impl Iterator<Item = (ClassId, &Class)> {
        (0..).map(ClassId).zip(&self.classes).filter(|(_, class)| class.is_leaf())
    }

    /// The classes that are part of no other.
    pub fn top(&self) -> impl Iterator<Item = ClassId> {
        let numbered = (0..).map(ClassId).zip(&self.classes);
        numbered.filter(|(_, class)| class.parent.is_none()).map(|(id, _)| id)
    }

    /// Every class after its parent.
    pub fn top_down(&self) -> Vec<ClassId> {
        let mut order: Vec<_> = self.top().collect();
        let mut next = 0;
        while let Some(class) = order.get(next) {
            order.extend(&self.classes[class.index()].children);
            next += 1;
        }
        order
    }

    /// The classes that a source feeds; of a recording, those that it may feed.
    pub fn fed_by(&self, source: &Source) -> impl Iterator<Item = ClassId> {
        let class = source.class();
        let any = self.leaves().map(|(id, _)| id);
        class.into_iter().chain(any.take(if class.is_none() { usize::MAX } else { 0 }))
    }

    /// Whether the classes make a hierarchy or have service curves, so that their shares of the
    /// link are more than their weights.
    pub fn has_shares(&self) -> bool {
        self.classes.iter().any(|class| class.parent.is_some() || class.curves != Curves::default())
    }

    /// Whether packets of a class may be dropped before they are late: by a queue or its police.
    pub fn drops_in_time(&self, class: &Class) -> bool {
        class.queue.is_some() || self.queue.is_some() || class.police == Police::Drop
    }

    /// The largest packet of a class: its own `packet` limit, or else the link's.
    pub fn max_packet(&self, class: &Class) -> Bytes {
        class.arrival.as_ref().and_then(|arrival| arrival.packet).unwrap_or(self.link.max_packet)
    }

    /// The shortest packet of a class: its own limit, or else the link's.
    pub fn min_packet(&self, class: &Class) -> Bytes {
        class.arrival.as_ref().and_then(|arrival| arrival.shortest).unwrap_or(self.link.min_packet)
    }
}

/// `[link]`.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// Bits a second. Where the rate changes, what schedulers count on; where several threads serve
    /// the link, the share that each can count on.
    pub rate: Rate,
    /// How the rate changes.
    pub trace: Option<Arc<Trace>>,
    /// What the wire behind it does to packets, where that is emulated when frames are forwarded:
    /// if the plan says anything of it, or of a rate that changes. None in a network, whose links
    /// have wires of their own.
    pub wire: Option<WireSpec>,
    /// The controller that finds its rate while packets are sent, between `rate` and a higher one.
    pub autorate: Option<Arc<AutorateSpec>>,
    /// What it adds to the frames of captures and interfaces; every other length of a plan counts
    /// it already.
    pub overhead: Overhead,
    /// The largest packet that any class may send, s_max of the admission tests. Default 1514 B and
    /// what the link adds to them.
    pub max_packet: Bytes,
    /// The shortest packet that a drawn length is raised to. Default 40 B.
    pub min_packet: Bytes,
    /// How late it may be with what its rate is due: more than nothing where the rate changes and
    /// where the link is a share of another, and `None` where it is sure of nothing.
    pub latency: Option<Nanos>,
    /// By how much it may be late with any packet because who drives it is, such as a timer of a
    /// kernel, or because it shares the link with other threads: no rate is lost by it. Zero in a
    /// plan that is read, unless several threads serve its link.
    pub stall: Nanos,
    /// The threads that serve it, if there are several.
    pub threads: Option<ThreadsSpec>,
}

/// The longest that a largest packet may take on a link.
pub(crate) const LONGEST_TRANSMISSION: Nanos = Nanos(3_600_000_000_000);

impl LinkSpec {
    /// The slowest rate that a link with its largest packet may have in a plan: such a packet takes
    /// an hour.
    pub fn slowest(&self) -> Rate {
        let nanobits = u128::from(self.max_packet.0) * u128::from(NANOBITS_PER_BYTE);
        let rate = nanobits.div_ceil(u128::from(LONGEST_TRANSMISSION.0));
        Rate(u64::try_from(rate).unwrap_or(u64::MAX).max(1))
    }

    /// Its rate as a whole. `rate` may be the share of a thread in it.
    pub fn whole_rate(&self) -> Rate {
        self.threads.map_or(self.rate, |threads| threads.rate)
    }

    /// Whether it sends what is due at its rate, at any time.
    pub fn is_punctual(&self) -> bool {
        self.trace.is_none() && self.latency == Some(Nanos::ZERO)
    }
}

/// A link that sends at a rate, or as its rate changes.
fn transmitter(rate: Rate, trace: Option<&Arc<Trace>>) -> Link {
    trace.map_or_else(|| Link::new(rate), |trace| Link::varying(trace.clone(), rate))
}

/// How late a link may be with what a rate is due; `None` if it falls behind for ever.
pub(crate) fn latency(rate: Rate, trace: Option<&Arc<Trace>>) -> Option<Nanos> {
    trace.map_or(Some(Nanos::ZERO), |trace| trace.latency(rate))
}

impl LinkSpec {
    /// The link, idle.
    pub fn transmitter(&self) -> Link {
        transmitter(self.rate, self.trace.as_ref())
    }

    /// What a frame of `length` bytes, as interfaces count them, takes of the link: at least a
    /// byte.
    pub fn accounted(&self, length: u32) -> u32 {
        self.overhead.on_link(length)
    }
}

/// `[run]`: defaults of `laxity run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSpec {
    /// How long sources send; recorded traffic that is shorter ends earlier. Default 10 s for
    /// models, everything for recordings.
    pub duration: Option<Nanos>,
    /// Packets that arrive before are sent but not measured. Default 0.
    pub warm_up: Nanos,
    /// The seed of every random draw. Default 1.
    pub seed: u64,
}
