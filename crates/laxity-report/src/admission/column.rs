//! Columns of the table of classes that several disciplines share.

use laxity_answers::link::ClassProof;

use crate::columns;
use crate::quantity::{self, NOTHING};

/// A class, and how many levels it stands below classes of the table.
pub(super) type Row<'a> = (&'a ClassProof, usize);
pub(super) type Column<'a> = columns::Column<Row<'a>>;

/// A number of bits per second as one of Mbit/s.
pub(super) fn megabits(bps: u64) -> String {
    quantity::megabits(bps as f64)
}

/// What stands in place of a suggestion for a class that could use one, if it has none.
pub(super) fn not_sought((class, _): &Row<'_>) -> &'static str {
    if class.suggestions_sought { NOTHING } else { "not sought" }
}
