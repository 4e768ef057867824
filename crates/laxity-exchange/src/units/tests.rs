use super::*;

#[test]
fn quantities_are_exact_or_on_the_safe_side() {
    assert_eq!(time("10us", "s", Round::Up), Ok(Nanos(10_000)));
    assert_eq!(time("1e-2", "s", Round::Up), Ok(Nanos(10_000_000)));
    assert_eq!(time("0.0000000015", "s", Round::Up), Ok(Nanos(2)));
    assert_eq!(time("0.0000000015", "s", Round::Down), Ok(Nanos(1)));
    assert_eq!(size("12", "b", Round::Up), Ok(Bytes(2)));
    assert_eq!(size("12", "b", Round::Down), Ok(Bytes(1)));
    assert_eq!(size("2kB", "b", Round::Up), Ok(Bytes(2_000)));
    assert_eq!(rate("10Mbps", "bps", Round::Down), Ok(Rate(10_000_000)));
    assert_eq!(rate("1.25 MBps", "bps", Round::Down), Ok(Rate(10_000_000)));
    assert_eq!(rate("0.5", "kbps", Round::Up), Ok(Rate(500)));
}

#[test]
fn what_is_no_quantity_is_refused() {
    for text in ["", "s", "-1s", "1 lightyear", "1..2s", "1e99s", "0x10s", "1eMs", "∞"] {
        assert!(time(text, "s", Round::Up).is_err(), "{text}");
    }
    assert_eq!(
        rate("99999999999999999999Tbps", "bps", Round::Up),
        Err("`99999999999999999999Tbps` is too large".into())
    );
    assert_eq!(time("0e30", "Ts", Round::Up), Ok(Nanos(0)));
}
