//! What fair queueing and static priority give classes.

use super::cells::{Column, cell, megabits};
use crate::quantity;

/// The rate that a class is guaranteed.
pub(super) fn rate() -> Column {
    ("rate [Mbit/s]".to_owned(), megabits(|class| class.rate_bps))
}

/// What a class sends in a turn of deficit round robin.
pub(super) fn quantum() -> Column {
    let show = |bytes: u32| quantity::count(bytes.into());
    ("quantum [b]".to_owned(), cell(|class| class.quantum_bytes, show))
}

/// The level of a class under static priority.
pub(super) fn level() -> Column {
    ("level".to_owned(), cell(|class| class.level, |level| quantity::count(level.into())))
}
