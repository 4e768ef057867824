//! What only who measures from outside tells.

use serde::{Deserialize, Serialize};

/// Of a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct WayWatch {
    /// The most that left in any 100 ms, in bits a second.
    pub busiest_bps: f64,
    /// Packets that arrived and are of no class.
    pub unclassed: u64,
    /// Packets that left and were not seen to arrive: what waited when watching began, what is made
    /// in between, copies, and what is changed on the way.
    pub unpaired: u64,
    /// Packets that left while another of the same content waited, so that it may have been that.
    pub alike: u64,
}

/// Of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct ClassWatch {
    /// Bits a second of the packets that left.
    pub throughput_bps: f64,
    /// Packets that have arrived and neither left nor been given up.
    pub pending: u64,
}
