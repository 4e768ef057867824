//! The columns of packet files.

use laxity::units::Nanos;

use crate::record::{Fate, Record};

/// The columns of a packet file.
pub const COLUMNS: [&str; 9] = [
    "seq",
    "class",
    "flow",
    "length",
    "arrival_ns",
    "deadline_ns",
    "start_ns",
    "departure_ns",
    "verdict",
];

/// The columns that replace `seq` in a network.
pub const HOP_COLUMNS: [&str; 3] = ["link", "from", "to"];

/// The last three columns of a packet's row.
pub(super) fn outcome(record: &Record) -> (Option<Nanos>, Option<Nanos>, &'static str) {
    match record.fate {
        Fate::Sent { start, departure } => (Some(start), Some(departure), "sent"),
        Fate::Dropped(reason) => (None, None, reason.name()),
        Fate::Queued => (None, None, "queued"),
    }
}
