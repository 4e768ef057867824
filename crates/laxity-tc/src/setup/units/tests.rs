use super::*;
use proptest::prelude::*;

/// 5 ms are shown as 4999 us, and giving that to the kernel would make it 4998.
#[test]
fn times_of_codel_come_back() {
    let both = [Nanos(5_000_000), Nanos(100_000_000)];
    assert_eq!([5_000, 100_000].map(codel_time), both);
    assert_eq!([4_999, 99_999].map(codel_time_shown), both);
}

proptest! {
    /// A burst that was rounded is the same in ticks and back, and not less than what was asked.
    #[test]
    fn bursts_come_back(rate in 1u64..20_000_000_000, least in 1u32..1 << 24) {
        prop_assume!(u128::from(least) * u128::from(TICKS) / u128::from(rate) < 1 << 32);
        let burst = whole_ticks(rate_of(rate), least);
        prop_assert!(burst >= least);
        prop_assert_eq!(bytes(rate_of(rate), ticks(rate_of(rate), burst)), burst);
    }

    #[test]
    fn times_of_codel_are_held(given in 0u32..1 << 30) {
        let time = codel_time(given);
        let held = |micros: u32| (u64::from(micros) * 1_000) >> 10;
        prop_assert!(micros(time) <= given && held(micros(time)) == held(given));
        let shown = ((held(micros(time)) << 10) / 1_000) as u32;
        prop_assert_eq!(codel_time_shown(shown), time);
    }
}
