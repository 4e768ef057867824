//! How much may be queued, and what becomes of the rest.

use laxity::aqm::{Choke, CoDel, Limit, Pie, Red};
use laxity::units::Bytes;

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
