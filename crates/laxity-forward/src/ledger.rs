//! A ledger of all events, which suffices to repeat a run to the last dispatch and drop.
//!
//! A file consists of the line `laxity ledger 3`, the settings that a repetition needs, and a
//! record for each [`Entry`]. The plan's text comes first, behind the files that the plan names. A
//! record is a byte for its kind, followed by its numbers in LEB128: seven bits in a byte, the last
//! byte below 128. Times are written as differences, and most differences are short. A packet takes
//! about 30 bytes. The caller's handles are not written.
//!
//! Where events came too fast to be written, there is a gap: a record says how many are not there,
//! and the next one is that a scheduler [began anew](Event::Resumed). Each stretch stands by
//! itself.
//!
//! Version 2 has neither when a packet arrived before it counted, nor how long it was held: it is
//! read as if both were nothing.

mod code;
mod reader;
mod writer;

use laxity::scheduler::Backlog;
use laxity::units::Nanos;
use thiserror::Error;

pub use reader::Reader;
pub use writer::Writer;

use crate::{Event, Settings};

/// The first line.
const MAGIC: &[u8] = b"laxity ledger 3\n";
/// The oldest version that is read, and the one that is written.
const VERSIONS: std::ops::RangeInclusive<u8> = 2..=3;

/// What of the settings decides what is sent and dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The seed of what queue managements draw.
    pub seed: u64,
    /// How much was queued at most.
    pub backlog: Backlog,
    /// The most that was made up for.
    pub catch_up: Nanos,
}

impl From<Settings> for Header {
    fn from(Settings { seed, backlog, catch_up, .. }: Settings) -> Self {
        Header { seed, backlog, catch_up }
    }
}

/// A record of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a ledger has nothing else in it")]
pub enum Entry {
    /// The text of the plan that is followed from the start, or from the next
    /// [reload](Event::Reloaded) on.
    Plan(String),
    /// A file that the next plan names.
    File {
        /// The key that names it, such as `link.rate-trace`.
        key: String,
        /// What it holds.
        text: String,
    },
    /// What happened here is not in it, up to the next [`Resumed`](Event::Resumed).
    Gap {
        /// How many events that are.
        lost: u64,
    },
    /// Something happened.
    Event(Event),
}

/// The longest text of a plan or a file, in bytes.
pub const LONGEST_TEXT: u64 = 64 << 20;

/// Why a ledger cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// It cannot be read at all.
    #[error("the ledger cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// It does not begin like one.
    #[error("it is no ledger: one begins with `laxity ledger 3`")]
    NoLedger,
    /// It is one of another version.
    #[error(
        "it is a ledger of version {0}, and versions 2 and 3 are read here: replay it with the Laxity that wrote it"
    )]
    OtherVersion(u8),
    /// It ends within a record, as when the writer was killed: what is before is right.
    #[error("it ends within record {record}: those before are whole")]
    CutShort {
        /// Which, from 0.
        record: u64,
    },
    /// A record says what no record says.
    #[error("record {record}: {what}")]
    Malformed {
        /// Which, from 0.
        record: u64,
        /// What is wrong.
        what: &'static str,
    },
}

#[cfg(test)]
mod tests;
