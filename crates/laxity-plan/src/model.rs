//! The typed plan: what a TOML file means once every name is resolved and every value is valid.

use std::path::PathBuf;

use laxity::aqm::{Choke, CoDel, Limit, Red};
use laxity::packet::ClassId;
pub use laxity::police::TokenBucket;
pub use laxity::sched::dwcs::Late;
use laxity::sched::dwcs::Settings;
use laxity::sched::hfsc::Curves;
use laxity::units::{Bytes, Nanos, Rate};
pub use laxity::window::Loss;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::matching::Match;
use crate::network::{Hop, Network, TcpSource};
use crate::tdp::TdpSpec;

/// A whole plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What it is about, for headings.
    pub title: Option<String>,
    /// The link that is shared; in a network, what its links have unless they say otherwise.
    pub link: LinkSpec,
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
    /// How long a simulation lasts unless the command says otherwise.
    pub run: RunSpec,
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

    /// Whether the classes make a hierarchy or have service curves, so that their shares of the
    /// link are more than their weights.
    pub fn has_shares(&self) -> bool {
        self.classes.iter().any(|class| class.parent.is_some() || class.curves != Curves::default())
    }

    /// Whether packets of a class may be dropped before they are late: by a queue or its police.
    pub fn drops_in_time(&self, class: &Class) -> bool {
        class.queue.or(self.queue).is_some() || class.police == Police::Drop
    }

    /// The largest packet of a class: its own `packet` limit, or else the link's.
    pub fn max_packet(&self, class: &Class) -> Bytes {
        class.arrival.as_ref().and_then(|arrival| arrival.packet).unwrap_or(self.link.max_packet)
    }
}

/// `[link]`.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// Bits a second.
    pub rate: Rate,
    /// The largest packet that any class may send, s_max of the admission tests. Default 1514 B.
    pub max_packet: Bytes,
    /// The shortest packet that a drawn length is raised to. Default 40 B.
    pub min_packet: Bytes,
    /// How late it may be with what its rate is due: more than nothing where the link is a share of
    /// another.
    pub latency: Nanos,
}

/// `[scheduler]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerSpec {
    /// First come, first served.
    Fifo,
    /// Weighted fair queueing by the classes' weights.
    Wfq,
    /// Hierarchical worst-case fair weighted fair queueing by the classes' guaranteed rates.
    Wf2q,
    /// Deficit round robin by the classes' weights.
    Drr,
    /// Hierarchical fair service curves.
    Hfsc,
    /// Earliest deadline first, with deadlines for best effort.
    Edf {
        /// How best-effort packets get their deadlines. Default exact.
        best_effort: BestEffort,
        /// How best-effort classes are ordered among themselves. Default wfq.
        order: BestEffortOrder,
        /// What becomes of real-time packets whose deadline is over. Default send.
        late: Late,
    },
    /// Dynamic window-constrained scheduling.
    Dwcs(Settings),
    /// Time-driven priority, in networks.
    Tdp(TdpSpec),
}

/// `best-effort = …` (Chakraborty, Gries, Thiele 2002).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BestEffort {
    /// Served only when nothing real-time waits: the paper's standard scheme.
    Background,
    /// A line through the origin (section 4.1; Spuri and Buttazzo's Total Bandwidth Server).
    TotalBandwidth,
    /// A line that cuts the time axis (section 4.2).
    ShiftedLine,
    /// Two line segments (Algorithm 2).
    TwoLine,
    /// Two line segments, remembering the previous packet only (Algorithm 3).
    TwoLineFast,
    /// The effective residual capacity itself (Algorithm 1).
    Exact,
}

/// `best-effort-order = …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BestEffortOrder {
    /// By arrival.
    Fifo,
    /// Weighted fair queueing by the classes' weights.
    Wfq,
}

/// `[class.NAME]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name in the plan, in tables and in traces.
    pub name: String,
    /// The class that it is part of; `None` at the top.
    pub parent: Option<ClassId>,
    /// The classes that are part of it, in the order of the file; none for a leaf.
    pub children: Vec<ClassId>,
    /// The service curves that the plan gives it.
    pub curves: Curves,
    /// The delay that real-time packets are promised, in a network at every output; best effort
    /// without.
    pub deadline: Option<Nanos>,
    /// The delay that packets are promised over the whole of their path through a network.
    pub end_to_end: Option<Nanos>,
    /// Its side of the contract; always present when there is a deadline, but for networks.
    pub arrival: Option<Arrival>,
    /// Its share among classes that are shared by weight. Default 1.
    pub weight: Weight,
    /// What happens to packets that break `arrival`. Default count.
    pub police: Police,
    /// How much of it may be queued. Default no limit.
    pub queue: Option<QueueSpec>,
    /// Which packets of a capture or a live link are its own.
    pub matching: Option<Match>,
    /// How many alike streams it has; a packet belongs to the one that its flow number modulo this
    /// says. Default 1.
    pub count: u32,
    /// The time between the deadlines of two packets of a stream.
    pub gap: Option<Nanos>,
    /// How many of a stream's consecutive packets may be late or lost; only with `gap` or
    /// `deadline`.
    pub loss: Option<Loss>,
    /// What DWCS does with late packets. Default drop with `loss`, send without.
    pub late: Late,
    /// The scheduler that it holds: for its own packets, or for the classes below it.
    pub inside: Option<Scheduling>,
}

/// A scheduler inside a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduling {
    /// The discipline.
    pub scheduler: SchedulerSpec,
    /// The queue of the classes that have none of their own.
    pub queue: Option<QueueSpec>,
}

impl Default for Scheduling {
    /// First come, first served, without limit.
    fn default() -> Self {
        Scheduling { scheduler: SchedulerSpec::Fifo, queue: None }
    }
}

impl Class {
    /// The delay by which deadlines order its packets: what it is promised, or else its streams'
    /// gap; best effort without either.
    pub fn due_within(&self) -> Option<Nanos> {
        self.deadline.or(self.gap)
    }

    /// Whether it is promised anything that time-driven priority reserves frames for.
    pub fn wants_frames(&self) -> bool {
        self.due_within().is_some() || self.end_to_end.is_some()
    }

    /// Whether it has packets of its own, rather than classes below it.
    pub fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }
}

/// A weight in millionths, so that sums and comparisons are exact: 0.5 is `Weight(500_000)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight(pub u32);

impl Weight {
    /// One.
    pub const ONE: Weight = Weight(1_000_000);
}

/// `arrival = { bucket, rate }`, `{ bucket, rate, packet, peak }` or a list of them: the traffic
/// of any interval is at most the minimum of all these token buckets.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// At least one; a TSpec with `packet` and `peak` adds the bucket (`packet`, `peak`).
    pub buckets: Vec<TokenBucket>,
    /// The largest packet of the class, if the plan gives one.
    pub packet: Option<Bytes>,
}

/// `police = …`: what happens to a packet that breaks its class's arrival curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Police {
    /// It is counted and travels on.
    Count,
    /// It travels as best effort.
    Demote,
    /// It is dropped.
    Drop,
}

/// `queue = { kind = … }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueSpec {
    /// A packet that would exceed the limit is dropped.
    DropTail(QueueLimit),
    /// Random early detection.
    Red(Red),
    /// Packets meet others of their flow, and both are dropped.
    Choke(Choke),
    /// Controlled delay.
    CoDel(CoDel),
}

impl QueueSpec {
    /// The same on another link, whose packets take another time.
    pub(crate) fn on(self, link: &LinkSpec) -> QueueSpec {
        let transmission = link.rate.time_for(link.max_packet).max(Nanos(1));
        match self {
            QueueSpec::Red(red) => QueueSpec::Red(Red { transmission, ..red }),
            QueueSpec::Choke(Choke { red, candidates }) => {
                QueueSpec::Choke(Choke { red: Red { transmission, ..red }, candidates })
            }
            other => other,
        }
    }
}

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// `limit = 100`.
    Packets(u64),
    /// `limit = "64kB"`.
    Bytes(Bytes),
}

impl From<QueueLimit> for Limit {
    fn from(limit: QueueLimit) -> Self {
        match limit {
            QueueLimit::Packets(packets) => Limit::Packets(packets),
            QueueLimit::Bytes(Bytes(bytes)) => Limit::Bytes(bytes),
        }
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

/// `[[source]]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Packets drawn from a model.
    Model(ModelSource),
    /// Connections over a network.
    Tcp(TcpSource),
    /// Packets read from a file, by path as seen from the working directory (a relative path in a
    /// plan counts from the plan's folder, and is resolved already).
    Recording {
        /// Where it is.
        path: PathBuf,
        /// Which of its frames take part; all when `None`. Captures only.
        filter: Option<Match>,
    },
}

impl Source {
    /// The class that it feeds, and by which path in a network; `None` for a recording.
    pub fn feeds(&self) -> Option<(ClassId, &[Hop])> {
        match self {
            Source::Model(source) => Some((source.class, &source.path)),
            Source::Tcp(source) => Some((source.class, &source.path)),
            Source::Recording { .. } => None,
        }
    }
}

/// A traffic model that feeds one class.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSource {
    /// The class it feeds.
    pub class: ClassId,
    /// How many independent copies there are, each a flow of its own. Default as many as the class
    /// has streams.
    pub count: u32,
    /// The links that its packets take; none where there is one link only.
    pub path: Vec<Hop>,
    /// Lengths of its packets.
    pub packet: Dist<Bytes>,
    /// When it sends.
    pub model: Model,
    /// When it begins. Default 0.
    pub start: Nanos,
    /// The time over which the copies' beginnings are spread at random. Default none.
    pub stagger: Nanos,
    /// When it ends. Default never.
    pub stop: Option<Nanos>,
}

/// When a source sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// Inside a burst as fast as its class's arrival curve allows, between bursts not at all.
    Greedy {
        /// Length of a burst.
        burst: Dist<Nanos>,
        /// Pause between bursts.
        spacing: Dist<Nanos>,
    },
    /// One packet after another, spaced so that the rate is constant.
    Constant {
        /// Its rate.
        rate: Rate,
        /// By how much each packet is later than that. Default not at all.
        jitter: Option<Dist<Nanos>>,
    },
    /// Exponential spacing around the one that gives the rate.
    Poisson {
        /// Mean rate.
        rate: Rate,
    },
    /// Constant rate while on, silent while off. Pareto on-off is this with Pareto periods.
    OnOff {
        /// Rate while on.
        rate: Rate,
        /// Length of an on period.
        on: Dist<Nanos>,
        /// Length of an off period.
        off: Dist<Nanos>,
    },
    /// Always a packet waiting: the next arrives when the transmission of one begins.
    Backlogged {
        /// How many packets it keeps queued. Default 2.
        window: u32,
    },
}

/// A distribution of times or sizes. Draws are rounded to whole units; negative ones become 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dist<T> {
    /// `"5ms"`.
    Constant(T),
    /// `{ uniform = [from, to] }`.
    Uniform(T, T),
    /// `{ normal = [mean, deviation] }`.
    Normal(T, T),
    /// `{ exponential = mean }`.
    Exponential(T),
    /// `{ pareto = [minimum, shape] }`.
    Pareto(T, f64),
    /// `{ lognormal = [median, sigma] }`.
    LogNormal(T, f64),
    /// `{ weibull = [scale, shape] }`.
    Weibull(T, f64),
}
