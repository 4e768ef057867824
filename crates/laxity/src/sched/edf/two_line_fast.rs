//! Algorithm 3 of Chakraborty, Gries and Thiele (2002): deadlines from two lines, remembering the
//! previous packet only.
//!
//! The demand of all earlier packets is assumed to fill the two lines E completely: over an
//! interval that ends at the previous deadline D and begins at the previous arrival r, it is E(D -
//! r). The next packet, of w bytes, must fit in beside it:
//!
//! ```text
//! D' = max( r' + E^-1(w),  r + E^-1( E(D - r) + w ) )
//! ```
//!
//! E is convex, so a demand that fits over this shortest interval fits over all longer ones. The
//! paper prints w_n in place of E(D - r), once both packets together reach the work at which the
//! lines cross. The two agree when the previous packet did not wait. When it did, w_n is less than
//! the assumed demand, and a burst that arrives at one instant would be promised more than the
//! lines hold.

use super::TwoLines;
use crate::units::{NANOBITS_PER_BYTE, Nanos};

/// Assigns deadlines to a sequence of best-effort packets.
#[derive(Clone, Debug)]
pub struct TwoLineFast {
    lines: TwoLines,
    previous: Previous,
}

/// Zeros if nothing comes before: lines from the origin demand nothing then.
#[derive(Clone, Copy, Debug, Default)]
struct Previous {
    arrival: Nanos,
    deadline: Nanos,
}

impl TwoLineFast {
    /// Deadlines from two lines below the effective residual capacity.
    pub fn new(lines: TwoLines) -> Self {
        TwoLineFast { lines, previous: Previous::default() }
    }

    /// The deadline of the next packet, which arrives at `arrival`, not before any earlier one,
    /// and is `length` bytes long; rounded up to the next nanosecond.
    pub fn assign(&mut self, arrival: Nanos, length: u32) -> Nanos {
        let work = u128::from(length) * u128::from(NANOBITS_PER_BYTE);
        let alone = arrival.saturating_add(self.lines.inverse(work));
        let demand = self.lines.value(self.previous.deadline - self.previous.arrival);
        let behind = self.lines.inverse(demand.saturating_add(work));
        let deadline = alone.max(self.previous.arrival.saturating_add(behind));
        self.previous = Previous { arrival, deadline };
        deadline
    }

    /// Forgets the previous packet; allowed whenever nothing with a deadline is waiting.
    pub fn reset(&mut self) {
        self.previous = Previous::default();
    }
}
