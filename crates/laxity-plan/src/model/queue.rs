//! How much may be queued, and what becomes of the rest.

use laxity::aqm::{Choke, CoDel, Limit, Pie, Red};
use laxity::units::Bytes;

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
    /// A proportional integral controller.
    Pie(Pie),
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
