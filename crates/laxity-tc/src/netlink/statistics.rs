//! What has passed a qdisc or class and what waits in it (TCA_STATS2,
//! include/uapi/linux/gen_stats.h).

use super::attributes::{find, words};
use super::object::{Object, STATS2};

/// TCA_STATS_BASIC.
const BASIC: u16 = 1;
/// TCA_STATS_QUEUE.
const QUEUE: u16 = 3;

/// Counts of a qdisc or class since it was made. The kernel's counters of packets, drops and
/// overlimits have 32 bits and begin again at zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Bytes that were sent, by the lengths that the qdisc counts.
    pub bytes: u64,
    /// Packets that were sent.
    pub packets: u32,
    /// Packets that were dropped.
    pub drops: u32,
    /// How often something had to wait that was there, for a limit.
    pub overlimits: u32,
    /// Packets that wait.
    pub queued: u32,
    /// Bytes that wait.
    pub backlog: u32,
}

impl Statistics {
    /// Statistics that an object was shown with.
    pub fn new(object: &Object) -> Option<Self> {
        let all = find(&object.attributes, STATS2)?;
        let basic = find(all, BASIC)?;
        let (bytes, _) = basic.split_first_chunk::<8>()?;
        let [packets] = words(&basic[8..])?;
        let [queued, backlog, drops, _, overlimits] = words(find(all, QUEUE)?)?;
        let bytes = u64::from_ne_bytes(*bytes);
        Some(Statistics { bytes, packets, drops, overlimits, queued, backlog })
    }
}
