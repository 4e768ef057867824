//! The kernel's units, and what `tc` makes of numbers on the way there.

use laxity::units::{Nanos, Rate};

/// Ticks in a second. A tick is 64 ns (include/net/pkt_sched.h, PSCHED_SHIFT).
pub const TICKS: u64 = 15_625_000;
/// The nanoseconds of a tick.
pub const TICK: u64 = 64;

/// A rate in whole bytes a second, as the kernel counts.
pub fn bytes_a_second(rate: Rate) -> u64 {
    rate.0 / 8
}

/// A rate from bytes a second.
pub fn rate_of(bytes: u64) -> Rate {
    Rate(bytes.saturating_mul(8))
}

/// A time in whole microseconds, as `tc` hands it over.
pub fn micros(time: Nanos) -> u32 {
    u32::try_from(time.0 / 1_000).unwrap_or(u32::MAX)
}

/// The time that `bytes` take at a rate in whole ticks: what `tc` hands over for a burst (iproute2,
/// tc/tc_core.c, tc_calc_xmittime).
pub fn ticks(rate: Rate, bytes: u32) -> u32 {
    let ticks = u128::from(bytes) * u128::from(TICKS) / u128::from(bytes_a_second(rate).max(1));
    u32::try_from(ticks).unwrap_or(u32::MAX)
}

/// The least number of bytes that `tc` makes these ticks of.
pub fn bytes(rate: Rate, ticks: u32) -> u32 {
    let bytes = u128::from(ticks) * u128::from(bytes_a_second(rate));
    u32::try_from(bytes.div_ceil(u128::from(TICKS))).unwrap_or(u32::MAX)
}

/// The least burst of at least `least` bytes that stays the same when the kernel holds it in ticks.
pub fn whole_ticks(rate: Rate, least: u32) -> u32 {
    let rate_bytes = u128::from(bytes_a_second(rate).max(1));
    let exact = (u128::from(least) * u128::from(TICKS)).div_ceil(rate_bytes);
    bytes(rate, u32::try_from(exact).unwrap_or(u32::MAX))
}

/// The least number of microseconds that the kernel holds as it holds `micros`. It has times of
/// CoDel in 1024 ns, rounded down (include/net/codel.h, CODEL_SHIFT).
pub fn codel_time(micros: u32) -> Nanos {
    least_codel_time((u64::from(micros) * 1_000) >> 10)
}

/// The least time that the kernel shows as these microseconds (codel_time_to_us rounds down).
pub fn codel_time_shown(micros: u32) -> Nanos {
    least_codel_time((u64::from(micros) * 1_000).div_ceil(1 << 10))
}

fn least_codel_time(held: u64) -> Nanos {
    Nanos((held << 10).div_ceil(1_000) * 1_000)
}

#[cfg(test)]
mod tests;
