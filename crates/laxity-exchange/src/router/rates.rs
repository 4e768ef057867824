//! Rates and times as these tools write them.

use laxity::units::{Nanos, Rate};

use crate::error::shown;
use crate::units::{Decimal, Round};

/// Kilobits a second without a unit; 0 is none.
pub(super) fn kilobits(text: &str) -> Result<Option<Rate>, String> {
    let bits = Decimal::parse(text.trim()).and_then(|kbit| kbit.times(1, 1, 3, Round::Down));
    match bits.filter(|bits| *bits <= Rate::LIMIT.0) {
        Some(0) => Ok(None),
        Some(bits) => Ok(Some(Rate(bits))),
        None => Err(format!("`{}` is not a rate in kbit/s, such as 20000", shown(text))),
    }
}

/// A rate as `tc` reads it (tc(8)): bits a second, or with a unit of bits or of bytes.
pub(crate) fn tc_rate(text: &str) -> Result<Rate, String> {
    let number = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(number);
    let unit = unit.to_ascii_lowercase();
    // `bps` is bytes a second for tc.
    let (prefix, factor) = match (unit.strip_suffix("bit"), unit.strip_suffix("bps")) {
        (Some(prefix), _) => (prefix, 1),
        (_, Some(prefix)) => (prefix, 8),
        (None, None) => (unit.as_str(), 1),
    };
    let scale = match prefix {
        "" => Some((1, 0)),
        "k" => Some((1, 3)),
        "m" => Some((1, 6)),
        "g" => Some((1, 9)),
        "t" => Some((1, 12)),
        "ki" => Some((1 << 10, 0)),
        "mi" => Some((1 << 20, 0)),
        "gi" => Some((1 << 30, 0)),
        _ => None,
    };
    let bits = scale.and_then(|(over, power)| {
        Decimal::parse(number)?.times(factor * over, 1, power, Round::Down)
    });
    let bits = bits.filter(|bits| (1..=Rate::LIMIT.0).contains(bits));
    bits.map(Rate).ok_or_else(|| format!("`{}` is not a rate such as 20mbit", shown(text)))
}

/// A time as `tc` reads it: microseconds, or with `us`, `ms` or `s`.
pub(super) fn tc_time(text: &str) -> Result<Nanos, String> {
    let number = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(number);
    let power = match unit {
        "" | "u" | "us" | "usec" | "usecs" => Some(3),
        "ms" | "msec" | "msecs" => Some(6),
        "s" | "sec" | "secs" => Some(9),
        _ => None,
    };
    let nanos = power.and_then(|power| Decimal::parse(number)?.times(1, 1, power, Round::Down));
    let nanos = nanos.filter(|nanos| (1..=Nanos::LIMIT.0).contains(nanos));
    nanos.map(Nanos).ok_or_else(|| format!("`{}` is not a time such as 100ms", shown(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_the_tools_read_them() {
        assert_eq!(kilobits("85000"), Ok(Some(Rate(85_000_000))));
        assert_eq!(kilobits("0"), Ok(None));
        assert!(kilobits("fast").is_err());
        for (text, bits) in [
            ("20mbit", 20_000_000),
            ("20Mbit", 20_000_000),
            ("2.5gbit", 2_500_000_000),
            ("1000000", 1_000_000),
            ("100kbps", 800_000),
            ("1mibit", 1 << 20),
        ] {
            assert_eq!(tc_rate(text), Ok(Rate(bits)), "{text}");
        }
        for text in ["", "mbit", "0", "20mbits", "-1mbit"] {
            assert!(tc_rate(text).is_err(), "{text}");
        }
        assert_eq!(tc_time("100ms"), Ok(Nanos(100_000_000)));
        assert_eq!(tc_time("30"), Ok(Nanos(30_000)));
    }
}
