//! The kernel's units, and what `tc` makes of numbers on the way there.

/// Ticks in a second: the kernel counts the time of packets in 64 ns (include/net/pkt_sched.h, PSCHED_SHIFT).
pub const TICKS: u64 = 15_625_000;
/// The nanoseconds of a tick.
pub const TICK: u64 = 64;

/// The time that so many bytes take at a rate in bytes a second, in whole ticks: what `tc` hands over for a burst
/// (iproute2, tc/tc_core.c, tc_calc_xmittime).
pub fn ticks(rate: u64, bytes: u32) -> u32 {
    let ticks = u128::from(bytes) * u128::from(TICKS) / u128::from(rate.max(1));
    u32::try_from(ticks).unwrap_or(u32::MAX)
}

/// The least number of bytes that `tc` makes so many ticks of.
pub fn bytes(rate: u64, ticks: u32) -> u32 {
    let bytes = (u128::from(ticks) * u128::from(rate)).div_ceil(u128::from(TICKS));
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// The least burst of at least so many bytes that is the same after the kernel has held it in ticks.
pub fn whole_ticks(rate: u64, least: u32) -> u32 {
    let exact = (u128::from(least) * u128::from(TICKS)).div_ceil(u128::from(rate.max(1)));
    bytes(rate, u32::try_from(exact).unwrap_or(u32::MAX))
}

/// The least number of microseconds that the kernel holds as it holds so many: it has times of CoDel in 1024 ns, rounded
/// down (include/net/codel.h, CODEL_SHIFT).
pub fn codel_time(micros: u32) -> u32 {
    least_codel_time((u64::from(micros) * 1_000) >> 10)
}

/// The same of what the kernel says, which is once more rounded down (codel_time_to_us).
pub fn codel_time_shown(micros: u32) -> u32 {
    least_codel_time((u64::from(micros) * 1_000).div_ceil(1 << 10))
}

fn least_codel_time(held: u64) -> u32 {
    u32::try_from((held << 10).div_ceil(1_000)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 5 ms are shown as 4999 us, and giving that to the kernel would make it 4998.
    #[test]
    fn times_of_codel_come_back() {
        assert_eq!([5_000, 100_000].map(codel_time), [5_000, 100_000]);
        assert_eq!([4_999, 99_999].map(codel_time_shown), [5_000, 100_000]);
    }

    proptest! {
        /// A burst that was rounded is the same in ticks and back, and not less than what was asked.
        #[test]
        fn bursts_come_back(rate in 1u64..20_000_000_000, least in 1u32..1 << 24) {
            prop_assume!(u128::from(least) * u128::from(TICKS) / u128::from(rate) < 1 << 32);
            let burst = whole_ticks(rate, least);
            prop_assert!(burst >= least);
            prop_assert_eq!(bytes(rate, ticks(rate, burst)), burst);
        }

        #[test]
        fn times_of_codel_are_held(micros in 0u32..1 << 30) {
            let time = codel_time(micros);
            let held = |micros: u32| (u64::from(micros) * 1_000) >> 10;
            prop_assert!(time <= micros && held(time) == held(micros));
            prop_assert_eq!(codel_time_shown(((held(time) << 10) / 1_000) as u32), time);
        }
    }
}
