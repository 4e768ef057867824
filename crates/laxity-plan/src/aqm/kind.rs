//! The queue managements by their words in a plan.

use crate::keys::kinds;
use crate::model::QueueSpec;

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

impl QueueSpec {
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
