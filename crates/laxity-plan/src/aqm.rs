//! A room for each queue management.
//!
//! A room holds its word and keys, how it is read, and what it does to a queue.
//!
//! To add a queue management, write its room, and add its word and its variant next to
//! [`QueueSpec`]. The matches below do not compile without them.

mod choke;
mod codel;
mod droptail;
mod pie;
mod red;

mod room;

use std::ops::Range;

use laxity::aqm::Limit;

use crate::error::Fault;
use crate::keys::{Keys, misplaced, names};
pub use crate::model::queue::Kind;
use crate::model::{LinkSpec, QueueSpec};
use crate::raw;
pub use room::{Management, Room};
pub(crate) use room::{limit, millionths};

impl Kind {
    /// Its room.
    pub fn room(self) -> &'static Room {
        match self {
            Kind::Droptail => &droptail::ROOM,
            Kind::Red => &red::ROOM,
            Kind::Choke => &choke::ROOM,
            Kind::Codel => &codel::ROOM,
            Kind::Pie => &pie::ROOM,
        }
    }
}

/// Every kind's word with its keys, for the schema.
pub(crate) fn keys() -> Vec<(&'static str, Keys)> {
    Kind::ALL.iter().map(|kind| (kind.word(), kind.room().keys)).collect()
}

impl QueueSpec {
    /// What is the same of its kind whatever its settings.
    pub fn room(&self) -> &'static Room {
        self.kind().room()
    }

    /// What it does to a queue.
    pub fn management(&self) -> &dyn Management {
        match self {
            QueueSpec::DropTail(droptail) => droptail,
            QueueSpec::Red(red) => red,
            QueueSpec::Choke(choke) => choke,
            QueueSpec::CoDel(codel) => codel,
            QueueSpec::Pie(pie) => pie,
        }
    }

    /// What the queue never exceeds.
    pub fn limit(&self) -> Limit {
        self.management().limit()
    }

    /// The same on another link.
    pub(crate) fn on(self, link: &LinkSpec) -> QueueSpec {
        self.management().on(link)
    }
}

/// Reads a `queue`, of a class or of all.
pub(crate) fn queue(
    raw: &raw::Queue,
    span: &Range<usize>,
    link: &LinkSpec,
) -> Result<QueueSpec, Fault> {
    check_keys(raw)?;
    let limit = limit("limit", &raw.limit)?;
    (raw.kind.0.room().read)(raw, span, limit, link)
}

/// Refuses the keys of another kind.
fn check_keys(raw: &raw::Queue) -> Result<(), Fault> {
    let takes = |kind: Kind, key: &str| names(kind.room().keys).any(|name| name == key);
    let Some((key, span)) = misplaced(raw.options(), |key| takes(raw.kind.0, key)) else {
        return Ok(());
    };
    let owners = Kind::ALL.iter().filter(|kind| takes(**kind, key));
    let owners: Vec<_> = owners.map(|kind| format!("`{}`", kind.word())).collect();
    let message = format!("`{key}` does not belong to `kind = \"{}\"`", raw.kind.0.word());
    let help = format!("leave it out; it belongs to {}", owners.join(", "));
    Err(Fault::at(span, message).help(help))
}
