//! What was seen, for whoever shows it.

use serde::Serialize;

use crate::status::{ClassStatus, WayStatus};

/// What two taps saw of a plan's classes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Watched {
    /// How long was watched.
    pub duration_ns: u64,
    /// What is watched, as a forwarder shows what it does. Delays are from one tap to the other, lengths
    /// as the plan's link carries packets, and `broken` is how many packets took longer than their bound.
    ///
    /// Packets that are not sent are `lost` if they did not leave within the timeout, and `forgotten` if
    /// it is not known of them, as too many waited to remember them all.
    #[serde(flatten)]
    pub way: WayStatus,
    /// What else is known of the classes, in the same order.
    pub more: Vec<ClassWatched>,
    /// The most that left in any 100 ms, in bits a second.
    pub busiest_bps: f64,
    /// Packets that arrived and are of no class.
    pub unclassed: u64,
    /// Packets that left and were not seen to arrive: what waited when watching began, what is made in
    /// between, copies, and what is changed on the way.
    pub unpaired: u64,
    /// Packets that left while another of the same content waited, so that it may have been that.
    pub alike: u64,
    /// Frames that passed the two taps unseen, as they were not looked at fast enough. If there are any,
    /// what is lost may have been unseen, and what is not paired as well.
    pub missed: [u64; 2],
}

/// What only who watches tells of a class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClassWatched {
    /// Bits a second of the packets that left.
    pub throughput_bps: f64,
    /// Packets that arrived and broke the class's arrival curve. Those that the plan demotes or drops for
    /// it have no bound.
    pub nonconforming: u64,
}

impl Watched {
    /// Whether no packet took longer than its bound.
    pub fn keeps_bounds(&self) -> bool {
        self.way.broken == 0
    }

    /// The classes.
    pub fn classes(&self) -> &[ClassStatus] {
        &self.way.classes
    }
}
