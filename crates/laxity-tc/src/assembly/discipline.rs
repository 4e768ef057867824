//! Disciplines that plans are made of: at the root, and what that hangs at.

use laxity::overhead::Overhead;
use laxity::units::{Bytes, Rate};

use crate::error::Span;
use crate::setup::{Cake, FqCodel, Prio};

/// The rank of what Linux gives to any interface.
pub(super) const LAST_RANK: u32 = 2;

/// The qdisc at the root.
#[derive(Debug)]
pub(crate) struct Root {
    pub discipline: Discipline,
    /// What the link adds to frames.
    pub overhead: Overhead,
    /// The major number of its classes; that of the first class if it is not written.
    pub major: Option<u16>,
    pub line: usize,
    pub span: Span,
}

/// What shapes the link: a token bucket, or something that does no more here.
#[derive(Clone, Debug)]
pub(crate) struct Shaper {
    pub rate: Rate,
    pub overhead: Overhead,
    /// Its number, if something can hang at it.
    pub major: u16,
    pub line: usize,
    /// How much it queues if nothing hangs at it.
    pub limit: Option<Bytes>,
    /// What it is, for notes.
    pub what: String,
}

impl Shaper {
    /// Something at which nothing hangs.
    pub(crate) fn new(rate: Rate, line: usize, what: impl Into<String>) -> Shaper {
        let (overhead, major, what) = (Overhead::NONE, 0, what.into());
        Shaper { rate, overhead, major, line, limit: None, what }
    }
}

/// `mq` at the root, and the one of the interface's queues that is read.
#[derive(Debug)]
pub(crate) struct Mq {
    pub major: u16,
    pub queue: Option<u16>,
}

/// The disciplines that become plans. `default` is the class of what no filter takes, or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discipline {
    Hfsc {
        default: u32,
    },
    Htb {
        default: u32,
        r2q: u32,
    },
    Prio(Prio),
    FqCodel(FqCodel),
    Cake(Cake),
    Qfq,
    Drr,
    /// One queue for all, below a token bucket.
    Fifo,
}

impl Discipline {
    /// The qdisc's name.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Hfsc { .. } => "hfsc",
            Self::Htb { .. } => "htb",
            Self::Prio(_) => "prio",
            Self::FqCodel(_) => "fq_codel",
            Self::Cake(_) => "cake",
            Self::Qfq => "qfq",
            Self::Drr => "drr",
            Self::Fifo => "a queue",
        }
    }

    /// Whether a rate of the link may be among its classes'.
    pub(crate) fn has_rates(&self) -> bool {
        match self {
            Self::Hfsc { .. } | Self::Htb { .. } => true,
            Self::Prio(_)
            | Self::FqCodel(_)
            | Self::Cake(_)
            | Self::Qfq
            | Self::Drr
            | Self::Fifo => false,
        }
    }

    /// The root with the least to read. Linux itself gives fq_codel to any interface.
    pub(crate) fn rank(&self) -> u32 {
        match self {
            Self::Hfsc { .. } | Self::Htb { .. } | Self::Qfq | Self::Drr => 0,
            Self::Prio(_) => 1,
            Self::FqCodel(_) | Self::Cake(_) | Self::Fifo => LAST_RANK,
        }
    }
}
