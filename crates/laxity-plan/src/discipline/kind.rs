//! The disciplines by their words in a plan.

use crate::keys::kinds;
use crate::model::SchedulerSpec;

kinds! {
    "SchedulerKind", "`kind = …`.",
    /// First come, first served.
    Fifo: "fifo";
    /// Weighted fair queueing by the classes' weights.
    Wfq: "wfq";
    /// Worst-case fair weighted fair queueing, WF2Q+, of any depth.
    Wf2q: "wf2q";
    /// Deficit round robin by the classes' weights.
    Drr: "drr";
    /// Hierarchical fair service curves.
    Hfsc: "hfsc";
    /// Static priority by the classes' levels.
    Priority: "priority";
    /// Flow queues with controlled delay (RFC 8290).
    FqCodel: "fq-codel";
    /// Earliest deadline first, with deadlines for best effort.
    Edf: "edf";
    /// Dynamic window-constrained scheduling: deadlines, and losses that are tolerated.
    Dwcs: "dwcs";
    /// Time-driven priority, in networks: real-time packets are sent in reserved time frames.
    Tdp: "tdp";
}

impl SchedulerSpec {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            SchedulerSpec::Fifo => Kind::Fifo,
            SchedulerSpec::Wfq => Kind::Wfq,
            SchedulerSpec::Wf2q => Kind::Wf2q,
            SchedulerSpec::Drr => Kind::Drr,
            SchedulerSpec::Hfsc => Kind::Hfsc,
            SchedulerSpec::Priority => Kind::Priority,
            SchedulerSpec::FqCodel(_) => Kind::FqCodel,
            SchedulerSpec::Edf(_) => Kind::Edf,
            SchedulerSpec::Dwcs(_) => Kind::Dwcs,
            SchedulerSpec::Tdp(_) => Kind::Tdp,
        }
    }
}
