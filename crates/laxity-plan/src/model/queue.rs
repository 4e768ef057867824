//! How much may be queued, and what becomes of the rest.

use laxity::aqm::{Choke, CoDel, Limit, Pie, Red};
use laxity::units::Bytes;

use crate::keys::kinds;

kinds! {
    pub, "QueueKind", "`kind = …`.",
    /// A packet that would exceed the limit is dropped.
    Droptail: "droptail";
    /// Random early detection: packets are dropped by chance when the queue is long on average.
    Red: "red";
    /// The same, and packets that meet another of their flow are dropped together with it.
    Choke: "choke";
    /// Controlled delay: packets are dropped when they have waited for too long.
    Codel: "codel";
    /// A proportional integral controller: packets are dropped by chance when others wait for too
    /// long.
    Pie: "pie";
}

/// `queue = { kind = … }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueSpec {
    /// A packet that would exceed the limit is dropped.
    DropTail(DropTailSpec),
    /// Random early detection.
    Red(Red),
    /// Packets meet others of their flow, and both are dropped.
    Choke(Choke),
    /// Controlled delay.
    CoDel(CoDel),
    /// A proportional integral controller.
    Pie(Pie),
}

impl QueueSpec {
    /// A limit and nothing else.
    pub const fn limited(limit: QueueLimit) -> Self {
        QueueSpec::DropTail(DropTailSpec { limit, mark: None })
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            QueueSpec::DropTail(_) => Kind::Droptail,
            QueueSpec::Red(_) => Kind::Red,
            QueueSpec::Choke(_) => Kind::Choke,
            QueueSpec::CoDel(_) => Kind::Codel,
            QueueSpec::Pie(_) => Kind::Pie,
        }
    }
}

/// `kind = "droptail"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropTailSpec {
    /// What it never exceeds.
    pub limit: QueueLimit,
    /// A packet that would exceed this is marked, if it is capable of ECN. Default none is.
    pub mark: Option<QueueLimit>,
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
