//! How much may be queued, and what becomes of the rest.

use laxity::aqm::{Choke, CoDel, Limit, Red};
use laxity::units::{Bytes, Nanos};

use super::LinkSpec;

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
