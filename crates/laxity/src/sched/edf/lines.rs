//! One or two lines below the effective residual capacity (Chakraborty, Gries, Thiele 2002, section
//! 4).

#[cfg(feature = "admission")]
mod below;

use crate::units::{Nanos, Rate};

/// The line `rate (t - offset)`, zero before `offset`. A rate of zero promises nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The slope gamma.
    pub rate: Rate,
    /// Where the line leaves the time axis: delta, zero for a line through the origin.
    pub offset: Nanos,
}

/// The higher of a line through the origin and a steeper one that starts later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoLines {
    /// The slope r of the line through the origin.
    pub first: Rate,
    /// The line of slope s >= r, cutting the time axis at p'.
    pub second: Line,
}

impl TwoLines {
    /// The value after `time`, in nanobits.
    pub(super) fn value(&self, time: Nanos) -> u128 {
        let line = |rate: Rate, time: Nanos| u128::from(rate.0) * u128::from(time.0);
        line(self.first, time).max(line(self.second.rate, time.saturating_sub(self.second.offset)))
    }

    /// The first nanosecond at which the value is at least `work` nanobits; [`Nanos::MAX`] if it
    /// never is.
    pub(super) fn inverse(&self, work: u128) -> Nanos {
        let reach = |rate: Rate, offset: Nanos| {
            let rate = u128::from(rate.0);
            let time = (work + rate.saturating_sub(1)).checked_div(rate);
            let time = time.and_then(|time| u64::try_from(time).ok());
            time.map_or(Nanos::MAX, |time| offset.saturating_add(Nanos(time)))
        };
        reach(self.first, Nanos::ZERO).min(reach(self.second.rate, self.second.offset))
    }
}
