//! What a class got in the last second.

use serde::{Deserialize, Serialize};

/// What a class got in the last second that is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct SecondStatus {
    /// How many seconds were over before it, under the plan.
    pub number: u64,
    /// How long it was.
    pub over_ns: u64,
    /// Bytes that were sent.
    pub bytes: u64,
    /// Packets that were sent.
    pub packets: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Packets that arrived and broke the arrival curve.
    pub nonconforming: u64,
    /// The delay in ns that 99 of 100 sent packets did not exceed, at most 3 % too high; 0 without
    /// packets.
    pub p99_ns: u64,
    /// The largest delay in ns; 0 without packets.
    pub max_ns: u64,
    /// How much of that was due to what was late, in ns.
    pub allowance_ns: u64,
}
