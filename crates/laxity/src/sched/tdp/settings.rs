//! The settings of an output, and the capacity of its frames.

use super::CommonTime;
use crate::sched::Late;
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// The settings of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TdpSettings {
    /// How time is divided.
    pub time: CommonTime,
    /// The link's rate C, not zero.
    pub rate: Rate,
    /// d, the largest forwarding delay in frames: as far ahead packets may come. An edge router,
    /// which [holds](super::Edge) packets for their frames, has a cycle or more here.
    pub delay: u32,
    /// By how much best effort may run into a reserved frame: at most a frame. The capacity of
    /// frames is less by as much.
    pub guard: Nanos,
    /// How packets are treated that were not sent in their frame, or arrive when it has begun.
    pub late: Late,
}

impl TdpSettings {
    /// The [`capacity`] of a frame on this output.
    pub fn capacity(&self) -> Bytes {
        capacity(self.rate, &self.time, self.guard)
    }
}

/// The capacity of a frame: T_f C, less what best effort takes by running into it.
pub fn capacity(rate: Rate, time: &CommonTime, guard: Nanos) -> Bytes {
    bytes_within(rate, time.frame.saturating_sub(guard))
}

/// Bytes that can be sent in this time, rounded down.
pub(super) fn bytes_within(rate: Rate, time: Nanos) -> Bytes {
    let work = u128::from(time.0) * u128::from(rate.0) / u128::from(NANOBITS_PER_BYTE);
    Bytes(u64::try_from(work).unwrap_or(u64::MAX))
}
