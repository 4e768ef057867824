//! What fair queueing and static priority give to classes.

use super::column::{Column, megabits};
use crate::quantity::count;

/// The rate that a class is guaranteed.
pub(super) fn rate<'a>() -> Column<'a> {
    Column::text("rate [Mbit/s]", |(class, _)| class.rate_bps.map(megabits))
}

/// What a class sends in a turn of deficit round robin.
pub(super) fn quantum<'a>() -> Column<'a> {
    Column::text("quantum [b]", |(class, _)| Some(count(class.quantum_bytes?.into())))
}

/// The level of a class under static priority.
pub(super) fn level<'a>() -> Column<'a> {
    Column::text("level", |(class, _)| Some(count(class.level?.into())))
}
