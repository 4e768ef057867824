//! Which discipline shares a link, and its settings.

pub use laxity::sched::Late;
use laxity::sched::cake::CakeSettings;
use laxity::sched::dualpi2::DualPi2Settings;
use laxity::sched::dwcs::DwcsSettings;
use laxity::sched::fq_codel::FqCodelSettings;
use laxity::sched::tdp::CommonTime;
use laxity::units::{Nanos, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{QueueLimit, QueueSpec};
use crate::keys::kinds;

kinds! {
    pub, "SchedulerKind", "`kind = …`.",
    /// First come, first served.
    Fifo: "fifo";
    /// Weighted fair queueing by the classes' weights.
    Wfq: "wfq";
    /// Worst-case fair weighted fair queueing, WF2Q+, of any depth.
    Wf2q: "wf2q";
    /// Deficit round robin by the classes' weights.
    Drr: "drr";
    /// Quick fair queueing, QFQ+, by the classes' weights.
    Qfq: "qfq";
    /// Hierarchical fair service curves.
    Hfsc: "hfsc";
    /// Static priority by the classes' levels.
    Priority: "priority";
    /// Flow queues with controlled delay (RFC 8290).
    FqCodel: "fq-codel";
    /// Two queues for L4S and all else, coupled (RFC 9332).
    DualPi2: "dualpi2";
    /// Tins by code point, shared by hosts and flows, as Linux has it.
    Cake: "cake";
    /// Earliest deadline first, with deadlines for best effort.
    Edf: "edf";
    /// Dynamic window-constrained scheduling: deadlines, and losses that are tolerated.
    Dwcs: "dwcs";
    /// Time-driven priority, in networks: real-time packets are sent in reserved time frames.
    Tdp: "tdp";
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
    /// Quick fair queueing, QFQ+, by the classes' weights.
    Qfq,
    /// Hierarchical fair service curves.
    Hfsc,
    /// Static priority by the classes' levels.
    Priority,
    /// Flow queues with controlled delay (RFC 8290).
    FqCodel(FqCodelSettings),
    /// Two queues for L4S and all else, coupled (RFC 9332).
    DualPi2(DualPi2Settings),
    /// Tins by code point, shared by hosts and flows.
    Cake(CakeSpec),
    /// Earliest deadline first, with deadlines for best effort.
    Edf(EdfSpec),
    /// Dynamic window-constrained scheduling.
    Dwcs(DwcsSettings),
    /// Time-driven priority, in networks.
    Tdp(TdpSpec),
}

impl SchedulerSpec {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            SchedulerSpec::Fifo => Kind::Fifo,
            SchedulerSpec::Wfq => Kind::Wfq,
            SchedulerSpec::Wf2q => Kind::Wf2q,
            SchedulerSpec::Drr => Kind::Drr,
            SchedulerSpec::Qfq => Kind::Qfq,
            SchedulerSpec::Hfsc => Kind::Hfsc,
            SchedulerSpec::Priority => Kind::Priority,
            SchedulerSpec::FqCodel(_) => Kind::FqCodel,
            SchedulerSpec::DualPi2(_) => Kind::DualPi2,
            SchedulerSpec::Cake(_) => Kind::Cake,
            SchedulerSpec::Edf(_) => Kind::Edf,
            SchedulerSpec::Dwcs(_) => Kind::Dwcs,
            SchedulerSpec::Tdp(_) => Kind::Tdp,
        }
    }
}

/// `kind = "cake"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CakeSpec {
    /// The rate to which it holds all packets back; the link's, by which nothing is held back, when
    /// `None`.
    pub rate: Option<Rate>,
    /// How much may be queued in all; what Linux has for the rate when `None`.
    pub limit: Option<QueueLimit>,
    /// Whether the code points of what is sent are cleared.
    pub wash: bool,
    /// Its other settings. What a link gives is that of the link.
    pub settings: CakeSettings,
}

/// `kind = "edf"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdfSpec {
    /// How best-effort packets get their deadlines. Default exact.
    pub best_effort: BestEffort,
    /// How best-effort classes are ordered among themselves. Default wfq.
    pub order: BestEffortOrder,
    /// What becomes of real-time packets whose deadline is over. Default send.
    pub late: Late,
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
    /// Tins by the classes' code points, shared by hosts and flows, as under `kind = "cake"`.
    Cake,
}

/// `kind = "tdp"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TdpSpec {
    /// How time is divided.
    pub time: CommonTime,
    /// d of nodes that have none of their own; the smallest that their links allow when `None`.
    pub forwarding_delay: Option<u32>,
    /// By how many frames more than d a node may delay a flow. Default 0: immediate forwarding.
    pub spare: u32,
    /// By how much best effort may run into a reserved frame. Default 0.
    pub guard: Nanos,
    /// The error of any node's clock that the network is to bear; the largest that the nodes'
    /// clocks have when `None`.
    pub clock_error: Option<Nanos>,
    /// How best-effort classes are ordered among themselves. Default wfq.
    pub order: BestEffortOrder,
    /// What becomes of packets that miss their frame. Default send.
    pub late: Late,
    /// How frames are assigned to flows. Default quick.
    pub assignment: Assignment,
}

impl TdpSpec {
    /// The frames after which reservations repeat: those of a super cycle.
    pub fn period(&self) -> u32 {
        self.time.frames * self.time.cycles
    }
}

/// `assignment = …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Assignment {
    /// By rules of thumb, which may leave out more flows than need be.
    Quick,
    /// By a solver, so that as few flows as possible are left out; it takes seconds where that is
    /// hard to tell.
    Exact,
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
