//! The settings of CAKE.

use super::acks::AckFilter;
use super::diffserv::Diffserv;
use super::isolation::Isolation;
use crate::aqm::Limit;
use crate::units::{Nanos, Rate};

/// How [`Cake`](super::Cake) is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a test of the kernel sets all of them")]
pub struct CakeSettings {
    /// How code points are sorted into tins.
    pub diffserv: Diffserv,
    /// What shares a tin.
    pub isolation: Isolation,
    /// The rate; thresholds of tins are parts of it.
    pub rate: Rate,
    /// Whether packets are held back to that rate. Where they are not, the link has it.
    pub shapes: bool,
    /// The usual round-trip time of the traffic, more than zero: COBALT's interval.
    pub rtt: Nanos,
    /// How much may be queued in all.
    pub limit: Limit,
    /// Queues of each tin: a multiple of 8.
    pub queues: usize,
    /// Whether dropped packets count as sent, for a link behind which they have used the bottleneck
    /// already.
    pub ingress: bool,
    /// Which acknowledgements are dropped.
    pub ack_filter: AckFilter,
    /// The longest packet in bytes.
    pub max_packet: u32,
}

impl CakeSettings {
    /// As Linux has it, for a link of 1 Gbit/s that paces itself.
    pub const USUAL: CakeSettings = CakeSettings {
        diffserv: Diffserv::Diffserv3,
        isolation: Isolation::TripleIsolate,
        rate: Rate(1_000_000_000),
        shapes: false,
        rtt: Nanos(100_000_000),
        limit: Limit::None,
        queues: 1_024,
        ingress: false,
        ack_filter: AckFilter::Off,
        max_packet: 1_514,
    };

    /// How long packets may wait in the long run: a twentieth of the round-trip time.
    pub(super) fn target(&self) -> Nanos {
        Nanos((self.rtt.0 / 20).max(1))
    }
}

impl Default for CakeSettings {
    fn default() -> Self {
        CakeSettings::USUAL
    }
}
