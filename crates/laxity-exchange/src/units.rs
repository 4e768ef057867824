//! Decimal numbers with units as other tools write them, taken exactly and rounded to the safe
//! side.

use laxity::units::{Bytes, Nanos, Rate};

/// Which way what is no whole number goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    Up,
    Down,
}

/// A decimal number: `digits` times ten to the `exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    digits: u128,
    exponent: i32,
}

/// A kind of quantity, and how many of its smallest units ten to the given power and the factor
/// make.
trait Unit: Sized {
    /// By the word behind its prefix: how many smallest units it has, as a fraction and a power of
    /// ten.
    fn unit(word: &str) -> Option<(u128, u128, i32)>;
    fn of(units: u64) -> Self;
    const EXPECTED: &'static str;
}

impl Unit for Nanos {
    fn unit(word: &str) -> Option<(u128, u128, i32)> {
        (word == "s").then_some((1, 1, 9))
    }
    fn of(units: u64) -> Nanos {
        Nanos(units)
    }
    const EXPECTED: &'static str = "a time such as 10us";
}

impl Unit for Bytes {
    fn unit(word: &str) -> Option<(u128, u128, i32)> {
        match word {
            "b" => Some((1, 8, 0)),
            "B" => Some((1, 1, 0)),
            _ => None,
        }
    }
    fn of(units: u64) -> Bytes {
        Bytes(units)
    }
    const EXPECTED: &'static str = "a size such as 1500B or 12kb, in bytes or bits";
}

impl Unit for Rate {
    fn unit(word: &str) -> Option<(u128, u128, i32)> {
        match word {
            "bps" => Some((1, 1, 0)),
            "Bps" => Some((8, 1, 0)),
            _ => None,
        }
    }
    fn of(units: u64) -> Rate {
        Rate(units)
    }
    const EXPECTED: &'static str = "a rate such as 10Mbps";
}

/// What of a quantity is said of a number without a unit.
pub(crate) fn time(text: &str, plain: &str, round: Round) -> Result<Nanos, String> {
    quantity(text, plain, round)
}

/// A size in bytes.
pub(crate) fn size(text: &str, plain: &str, round: Round) -> Result<Bytes, String> {
    quantity(text, plain, round)
}

/// A rate in bits a second.
pub(crate) fn rate(text: &str, plain: &str, round: Round) -> Result<Rate, String> {
    quantity(text, plain, round)
}

/// A number with its unit, or in the unit `plain`.
fn quantity<T: Unit>(text: &str, plain: &str, round: Round) -> Result<T, String> {
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | 'e' | 'E')));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = if unit.trim().is_empty() { plain } else { unit.trim() };
    let wrong = || format!("`{}` is not {}", crate::error::shown(text), T::EXPECTED);
    let decimal = Decimal::parse(number).ok_or_else(wrong)?;
    let (factor, over, power) = unit_of::<T>(unit).ok_or_else(wrong)?;
    let units = decimal.times(factor, over, power, round);
    let units = units.ok_or_else(|| format!("`{}` is too large", crate::error::shown(text)))?;
    Ok(T::of(units))
}

fn unit_of<T: Unit>(unit: &str) -> Option<(u128, u128, i32)> {
    if let Some(plain) = T::unit(unit) {
        return Some(plain);
    }
    let mut letters = unit.chars();
    let power = match letters.next()? {
        'n' => -9,
        'u' | 'µ' => -6,
        'm' => -3,
        'k' => 3,
        'M' => 6,
        'G' => 9,
        'T' => 12,
        _ => return None,
    };
    T::unit(letters.as_str()).map(|(factor, over, more)| (factor, over, more + power))
}

impl Decimal {
    /// The most digits, and the largest power of ten either way: far more than any quantity has.
    const MOST: usize = 30;

    pub(crate) fn parse(text: &str) -> Option<Decimal> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let mantissa = mantissa.strip_prefix('+').unwrap_or(mantissa);
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{part}");
        let digits = all.trim_start_matches('0');
        let is_number = !all.is_empty() && all.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || digits.len() > Decimal::MOST || exponent.unsigned_abs() > 30 {
            return None;
        }
        let digits = if digits.is_empty() { 0 } else { digits.parse().ok()? };
        Some(Decimal { digits, exponent: exponent - i32::try_from(part.len()).ok()? })
    }

    /// A whole number of it times `factor / over`, times ten to the `power`.
    pub(crate) fn times(self, factor: u128, over: u128, power: i32, round: Round) -> Option<u64> {
        let power = self.exponent + power;
        let digits = self.digits.checked_mul(factor)?;
        let ten = |power: u32| 10u128.checked_pow(power);
        let (above, below) = match u32::try_from(power) {
            Ok(up) => (digits.checked_mul(if digits == 0 { 1 } else { ten(up)? })?, over),
            // Beyond that it is less than one, whatever it is.
            Err(_) => (digits, ten(power.unsigned_abs().min(37))?.checked_mul(over)?),
        };
        let whole = match round {
            Round::Up => above.div_ceil(below),
            Round::Down => above / below,
        };
        u64::try_from(whole).ok()
    }
}

#[cfg(test)]
mod tests {
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
}
