//! The machine that carries a plan out.

use laxity::units::{Bytes, Nanos, Rate};

use crate::setup::units::{bytes_a_second, whole_ticks};

/// What a plan does not say of the machine that carries it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linux {
    /// How late a timer of the kernel may wake it. Default 1 ms: with high-resolution timers that
    /// is what other work in interrupts takes. Without them it is a tick, up to 10 ms with HZ =
    /// 100.
    pub timer: Nanos,
    /// Whether frames of several segments are handed to the interface, to be taken apart there
    /// (GSO, TSO), as `ethtool -k` says. Default yes.
    pub offload: bool,
    /// The kind that filters are written as. Default flower.
    pub filters: Filters,
}

impl Default for Linux {
    fn default() -> Self {
        Linux { timer: Nanos(1_000_000), offload: true, filters: Filters::Flower }
    }
}

/// Kinds of filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filters {
    /// By fields. Ports may be ranges.
    #[default]
    Flower,
    /// By bits, for kernels without flower.
    U32,
}

impl Linux {
    /// The burst of the token bucket that keeps a link's rate: the longest packet, and what comes
    /// in while the timer is late, so that no part of the rate is lost then.
    pub(super) fn link_burst(&self, rate: Rate, packet: Bytes) -> u32 {
        let second = u128::from(bytes_a_second(rate)) * u128::from(self.timer.0);
        let least = u128::from(packet.0) + second.div_ceil(1_000_000_000);
        whole_ticks(rate, u32::try_from(least).unwrap_or(u32::MAX))
    }
}
