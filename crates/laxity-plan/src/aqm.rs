//! A room for each queue management: its word and keys, how it is read, and what it does to a queue.
//!
//! Whoever adds one writes its room, a line of the table below and a variant of [`QueueSpec`]; what is
//! forgotten does not compile.

mod choke;
mod codel;
mod droptail;
mod red;

use std::ops::Range;

use laxity::aqm::{Limit, Policy};
use laxity::units::Bytes;
use schemars::Schema;

use crate::error::Fault;
use crate::keys::{Key, Keys, astray, kinds, names};
use crate::model::{LinkSpec, QueueLimit, QueueSpec};
use crate::raw::{self, At};
use crate::read::{Read, zero};

/// A queue management with its settings.
pub trait Management {
    /// What the queue never exceeds.
    fn limit(&self) -> Limit;

    /// Itself, as it stands in front of a scheduler.
    fn policy(&self) -> Policy;

    /// The same on another link, whose packets take another time.
    fn on(&self, link: &LinkSpec) -> QueueSpec;
}

/// What is the same of a queue management whatever its settings.
pub struct Room {
    /// The keys of `queue` that it takes besides `kind` and `limit`.
    pub(crate) keys: Keys,
    /// Its settings from `queue`, with their limit.
    pub(crate) read: fn(&raw::Queue, &Range<usize>, QueueLimit, &LinkSpec) -> Read<QueueSpec>,
    /// Whether it drops by chance, so that a run depends on its seed.
    pub draws: bool,
    /// Whether it drops nothing but what exceeds its limit.
    pub is_a_limit: bool,
}

/// A key that has one meaning wherever it is taken.
const ECN: Key = Key::new(
    "ecn",
    "packets that are capable of ECN are marked instead of dropped.\nDefault false.",
);

kinds! {
    "QueueKind", "`kind = …`.",
    /// A packet that would exceed the limit is dropped.
    Droptail: "droptail", droptail::ROOM;
    /// Random early detection: packets are dropped by chance when the queue is long on average.
    Red: "red", red::ROOM;
    /// The same, and packets that meet another of their flow are dropped together with it.
    Choke: "choke", choke::ROOM;
    /// Controlled delay: packets are dropped when they have waited for too long.
    Codel: "codel", codel::ROOM;
}

impl QueueSpec {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            QueueSpec::DropTail(_) => Kind::Droptail,
            QueueSpec::Red(_) => Kind::Red,
            QueueSpec::Choke(_) => Kind::Choke,
            QueueSpec::CoDel(_) => Kind::Codel,
        }
    }

    /// What is the same of its kind whatever its settings.
    pub fn room(&self) -> &'static Room {
        self.kind().room()
    }

    /// What it does to a queue.
    pub fn management(&self) -> &dyn Management {
        match self {
            QueueSpec::DropTail(limit) => limit,
            QueueSpec::Red(red) => red,
            QueueSpec::Choke(choke) => choke,
            QueueSpec::CoDel(codel) => codel,
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
pub(crate) fn queue(raw: &raw::Queue, span: &Range<usize>, link: &LinkSpec) -> Read<QueueSpec> {
    check_keys(raw)?;
    let limit = limit("limit", &raw.limit)?;
    (raw.kind.0.room().read)(raw, span, limit, link)
}

/// Refuses the keys of another kind.
fn check_keys(raw: &raw::Queue) -> Read<()> {
    let takes = |kind: Kind, key: &str| names(kind.room().keys).any(|name| name == key);
    let Some((key, span)) = astray(raw.options(), |key| takes(raw.kind.0, key)) else {
        return Ok(());
    };
    let owners = Kind::ALL.iter().filter(|kind| takes(**kind, key));
    let owners: Vec<_> = owners.map(|kind| format!("`{}`", kind.word())).collect();
    let message = format!("`{key}` does not belong to `kind = \"{}\"`", raw.kind.0.word());
    let help = format!("leave it out; it belongs to {}", owners.join(", "));
    Err(Fault::at(span, message).help(help))
}

/// Describes the keys of `queue` by what they mean to each kind.
pub(crate) fn describe(schema: &mut Schema) {
    crate::keys::describe(schema, &Kind::keys());
}

/// A limit of packets or bytes that is not zero.
pub(crate) fn limit(key: &str, raw: &At<raw::Limit>) -> Read<QueueLimit> {
    match raw.value {
        raw::Limit::Packets(0) | raw::Limit::Bytes(Bytes(0)) => Err(zero(key, &raw.span)),
        raw::Limit::Packets(count) => Ok(QueueLimit::Packets(count)),
        raw::Limit::Bytes(size) => Ok(QueueLimit::Bytes(size)),
    }
}
