//! What streams leave to best effort.

use crate::admit::edf::System;
use crate::sched::edf::Deadlines;

/// The streams for which best effort needs deadlines.
#[derive(Clone, Debug)]
pub struct Residual {
    pub(super) system: System,
    pub(super) changes: u64,
}

/// Deadlines of best effort beside certain streams.
#[derive(Clone, Debug)]
pub struct PreparedDeadlines {
    pub(super) deadlines: Deadlines,
    pub(super) changes: u64,
}

impl Residual {
    /// Computes the deadlines of best effort, in time about linear in the number of different
    /// contracts. `None` if they are too fine for 64 bits, which whole rates, sizes and times never
    /// are.
    pub fn prepare(self) -> Option<PreparedDeadlines> {
        let deadlines = Deadlines::new(&self.system.effective_residual_capacity())?;
        Some(PreparedDeadlines { deadlines, changes: self.changes })
    }
}
