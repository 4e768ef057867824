//! What became of packets on a wire that is emulated, as it is shown.

use serde::{Deserialize, Serialize};

use super::DelayStatus;
use crate::bridge::WireMeasurement;

/// The wire behind a link that is emulated, at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct WireStatus {
    /// Packets and copies that came out.
    pub delivered: u64,
    /// Copies among them.
    pub copies: u64,
    /// Packets that were lost by chance, as the plan says.
    pub lost: u64,
    /// Packets that were lost because too much was under way.
    pub no_room: u64,
    /// How much later packets came out than by the plan; absent when none did.
    pub late_ns: Option<DelayStatus>,
}

impl WireStatus {
    pub(super) fn new(measured: &WireMeasurement) -> WireStatus {
        let WireMeasurement { delivered, copies, lost, no_room, ref late } = *measured;
        WireStatus { delivered, copies, lost, no_room, late_ns: DelayStatus::new(late) }
    }
}
