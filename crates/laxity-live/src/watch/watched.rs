//! What was seen, for whoever shows it.

use serde::Serialize;

/// What two taps saw of a plan's classes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Watched {
    /// How long was watched.
    pub duration_ns: u64,
    /// The link that the plan is for, in bits a second.
    pub rate_bps: u64,
    /// The most that left in any 100 ms, in bits a second.
    pub busiest_bps: f64,
    /// The classes that have packets, in the plan's order.
    pub classes: Vec<ClassWatched>,
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

/// What was seen of a class. Lengths count as the plan's link carries packets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassWatched {
    /// Its name.
    pub name: String,
    /// Packets that arrived.
    pub arrived: u64,
    /// Those of them that left.
    pub sent: u64,
    /// Those that did not leave within the timeout.
    pub lost: u64,
    /// Those that it is not known of, as too many waited to remember them all.
    pub forgotten: u64,
    /// Those that had not left when watching ended.
    pub queued: u64,
    /// Packets that arrived and broke the class's arrival curve.
    pub nonconforming: u64,
    /// Bytes of the packets that left.
    pub bytes_sent: u64,
    /// The same a second, in bits.
    pub throughput_bps: f64,
    /// From one tap to the other; absent when nothing left.
    pub delay_ns: Option<DelaysWatched>,
    /// The delay that the plan proves, when it does.
    pub bound_ns: Option<u64>,
    /// Packets that took longer than that, without those that the plan demotes or drops for breaking the
    /// arrival curve.
    pub bound_misses: u64,
}

/// The distribution of a class's delays in ns. Minimum, mean and maximum are exact; percentiles are at
/// most 0.1 % too high.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct DelaysWatched {
    pub min: u64,
    pub mean: f64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub p99_9: u64,
    pub max: u64,
}

impl Watched {
    /// Whether no packet took longer than its bound.
    pub fn keeps_bounds(&self) -> bool {
        self.classes.iter().all(|class| class.bound_misses == 0)
    }
}
