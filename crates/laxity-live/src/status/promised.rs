//! What is promised where reservations are taken.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use crate::reservations::Reservation;

/// The reservations of a link, or along the paths of a network, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct PromisedStatus {
    /// The moment, in ns since 1970. Stages may have changed since.
    pub at_ns: u64,
    /// The number of reservations in each stage: `ahead`, `held`, `active`, `leaving`.
    pub stages: BTreeMap<String, u64>,
    /// In a network, the output where the least is left, as `from → to`: rates are those there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The long-term rates of all classes that are promised a delay, together, in bit/s.
    pub promised_bps: u64,
    /// The rate of the link, in bit/s.
    pub rate_bps: u64,
    /// The first reservations by name, at most [`PromisedStatus::SHOWN`].
    pub reservations: Vec<Reservation>,
}

impl PromisedStatus {
    /// The most reservations that are shown.
    pub const SHOWN: usize = 64;

    /// What may still be promised at most, in bit/s.
    pub fn headroom_bps(&self) -> u64 {
        self.rate_bps.saturating_sub(self.promised_bps)
    }
}

/// Where the thread that takes orders leaves what is promised for those who ask.
pub(crate) type PromisedBoard = Arc<Mutex<PromisedStatus>>;
