//! Decimal numbers with units as other tools write them, read exactly and rounded to the safe side.

use laxity::units::{Bytes, Nanos, Rate};

/// The direction in which fractions are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    Up,
    Down,
}

/// A parser of quantities: the text, the unit of plain numbers, and the direction of rounding.
pub(crate) type Parse<T> = fn(&str, &str, Round) -> Result<T, String>;

/// A decimal number: `digits` times ten to the `exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    digits: u128,
    exponent: i32,
}

/// A factor: a fraction and a power of ten.
type Factor = (u128, u128, i32);

/// Units without prefixes, each in the smallest unit of its kind.
type Units = [(&'static str, Factor)];

/// A time in nanoseconds. `plain` is the unit of a number without one.
pub(crate) fn time(text: &str, plain: &str, round: Round) -> Result<Nanos, String> {
    parse(text, plain, round, "a time such as 10us", &[("s", (1, 1, 9))]).map(Nanos)
}

/// A size in bytes.
pub(crate) fn size(text: &str, plain: &str, round: Round) -> Result<Bytes, String> {
    let example = "a size such as 1500B or 12kb, in bytes or bits";
    parse(text, plain, round, example, &[("b", (1, 8, 0)), ("B", (1, 1, 0))]).map(Bytes)
}

/// A rate in bits per second.
pub(crate) fn rate(text: &str, plain: &str, round: Round) -> Result<Rate, String> {
    let units = [("bps", (1, 1, 0)), ("Bps", (8, 1, 0))];
    parse(text, plain, round, "a rate such as 10Mbps", &units).map(Rate)
}

/// A number with its unit, or in the unit `plain`.
fn parse(
    text: &str,
    plain: &str,
    round: Round,
    example: &str,
    units: &Units,
) -> Result<u64, String> {
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | 'e' | 'E')));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = if unit.trim().is_empty() { plain } else { unit.trim() };
    let wrong = || format!("`{}` is not {example}", crate::error::shown(text));
    let decimal = Decimal::parse(number).ok_or_else(wrong)?;
    let (factor, over, power) = factor(units, unit).ok_or_else(wrong)?;
    let units = decimal.times(factor, over, power, round);
    units.ok_or_else(|| format!("`{}` is too large", crate::error::shown(text)))
}

/// The factor of a unit, with or without a prefix.
fn factor(units: &Units, unit: &str) -> Option<Factor> {
    const PREFIXES: [(char, i32); 8] =
        [('n', -9), ('u', -6), ('µ', -6), ('m', -3), ('k', 3), ('M', 6), ('G', 9), ('T', 12)];
    let plain = |word: &str| Some(units.iter().find(|(unit, _)| *unit == word)?.1);
    plain(unit).or_else(|| {
        let mut letters = unit.chars();
        let prefix = letters.next()?;
        let (_, power) = PREFIXES.iter().find(|(letter, _)| *letter == prefix)?;
        plain(letters.as_str()).map(|(factor, over, more)| (factor, over, more + power))
    })
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

    /// The number times `factor / over` times ten to the `power`, rounded.
    pub(crate) fn times(self, factor: u128, over: u128, power: i32, round: Round) -> Option<u64> {
        let power = self.exponent + power;
        let digits = self.digits.checked_mul(factor)?;
        let ten = |power: u32| 10u128.checked_pow(power);
        let (above, below) = match u32::try_from(power) {
            Ok(up) => (digits.checked_mul(if digits == 0 { 1 } else { ten(up)? })?, over),
            // Beyond that it is less than one in any case.
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
mod tests;
