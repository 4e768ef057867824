//! By how much one curve exceeds another.

use laxity::admit::Interval;
use laxity::admit::hfsc::Excess;
use laxity::units::Rate;
use serde::Serialize;

use crate::admission::sentences::two_rates;
use crate::quantity;

/// By how much one curve exceeds another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ExcessView {
    /// In the long run.
    Lasting {
        /// The rate of the one that is too high.
        asked_bps: u64,
        /// The rate of the other.
        given_bps: u64,
    },
    /// For a time only, and where it is the most.
    Passing {
        /// The time.
        length_ns: u64,
        /// What the other serves within it.
        capacity_bytes: u64,
        /// What the one that is too high serves.
        demand_bytes: u64,
    },
}

impl From<Excess> for ExcessView {
    fn from(excess: Excess) -> Self {
        match excess {
            Excess::Lasting { asked, given } => {
                ExcessView::Lasting { asked_bps: asked.0, given_bps: given.0 }
            }
            Excess::Passing(Interval { length, capacity, demand }) => ExcessView::Passing {
                length_ns: length.0,
                capacity_bytes: capacity.0,
                demand_bytes: demand.0,
            },
        }
    }
}

impl ExcessView {
    /// What is asked and what is given, with units.
    pub fn sums(self) -> (String, String) {
        match self {
            ExcessView::Lasting { asked_bps, given_bps } => {
                two_rates(Rate(asked_bps), Rate(given_bps))
            }
            ExcessView::Passing { length_ns, capacity_bytes, demand_bytes } => {
                let asked = quantity::count(demand_bytes);
                let within = quantity::time(length_ns as f64);
                (format!("{asked} bytes within {within}"), quantity::count(capacity_bytes))
            }
        }
    }
}
