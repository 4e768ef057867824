//! Quantities as `tc` reads them (iproute2, lib/utils_math.c, lib/utils.c and tc/tc_util.c), which
//! is not how plans do: a rate without a unit is in bits a second and `bps` is in bytes, a `kb` is
//! 1024 bytes, a time without a unit is in microseconds.

use std::net::IpAddr;

use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::error::Fault;

use super::command::Word;
use crate::error::plain;
use crate::setup::Handle;

/// The bits a second of a unit of a rate.
fn rate_unit(unit: &str) -> Option<u128> {
    let (prefix, bits) = match unit.strip_suffix("bit") {
        Some(prefix) => (prefix, 1),
        None => (unit.strip_suffix("bps")?, 8),
    };
    let prefixes = ["", "k", "m", "g", "t"].into_iter().zip(0..);
    let (times, power) = match prefix.strip_suffix('i') {
        Some(prefix) if !prefix.is_empty() => (1024u128, prefix),
        _ => (1000, prefix),
    };
    let known = prefixes.into_iter().find(|(known, _)| *known == power);
    known.map(|(_, exponent)| bits * times.pow(exponent))
}

/// The bytes of units of a size.
const SIZES: &str = "b 1 k 1024 kb 1024 m 1048576 mb 1048576 g 1073741824 gb 1073741824 kbit 128 \
    mbit 131072 gbit 134217728";
/// The nanoseconds of units of a time.
const TIMES: &str = "s 1000000000 sec 1000000000 secs 1000000000 ms 1000000 msec 1000000 \
    msecs 1000000 us 1000 usec 1000 usecs 1000";

const RATE_HELP: &str = "tc reads a number and bit, kbit, mbit, gbit or tbit (bits a second), \
    bps, kbps, mbps, gbps or tbps (bytes a second), kibit, kibps and so on (powers of 1024), or no \
    unit for bits a second";
const SIZE_HELP: &str = "tc reads a number of bytes, or one and b, k or kb (1024 bytes), m or mb, \
    g or gb, kbit, mbit, gbit";
const TIME_HELP: &str = "tc reads a number and s, ms or us, or no unit for microseconds";

/// Bits a second, which may be zero.
pub(crate) fn rate(word: &Word) -> Result<u64, Fault> {
    if word.text.contains('%') && word.doubt.is_none() {
        let message = format!(
            "`{}` is a share of the interface's speed, which the script does not say",
            plain(&word.text)
        );
        return Err(Fault::at(&word.span, message).help("write the rate itself, such as 10mbit"));
    }
    let limit = ("rate", Rate::LIMIT.0, Rate::LIMIT.to_string());
    quantity(word, rate_unit, 1, limit, RATE_HELP)
}

/// A size in bytes.
pub(crate) fn size(word: &Word) -> Result<Bytes, Fault> {
    let limit = ("size", Bytes::LIMIT.0, Bytes::LIMIT.to_string());
    quantity(word, |unit| listed(SIZES, unit)?.parse().ok(), 1, limit, SIZE_HELP).map(Bytes)
}

/// A burst in bytes, which may be followed by the size of a table's cell.
pub(crate) fn burst(word: &Word) -> Result<Bytes, Fault> {
    let size = word.text.split_once('/').map_or(&word.text[..], |(size, _)| size);
    self::size(&Word { text: size.into(), ..word.clone() })
}

/// A size in as many bits as the kernel has for one.
pub(crate) fn small(size: Bytes) -> u32 {
    u32::try_from(size.0).unwrap_or(u32::MAX)
}

/// A time.
pub(crate) fn time(word: &Word) -> Result<Nanos, Fault> {
    let limit = ("time", Nanos::LIMIT.0, Nanos::LIMIT.to_string());
    quantity(word, |unit| listed(TIMES, unit)?.parse().ok(), 1_000, limit, TIME_HELP).map(Nanos)
}

/// A number times its unit, or times `bare` without one, rounded down. Upper and lower case are
/// alike.
fn quantity(
    word: &Word,
    unit: fn(&str) -> Option<u128>,
    bare: u128,
    (what, limit, limit_shown): (&str, u64, String),
    help: &str,
) -> Result<u64, Fault> {
    let known = |name: &str| match name {
        "" => Some(bare),
        name => unit(&name.to_ascii_lowercase()),
    };
    let read = decimal(&word.text).and_then(|(number, unit)| Some((number, known(unit)?)));
    let Some((number, unit)) = read else {
        return Err(word.fault(&format!("a {what}"), help));
    };
    number.times(unit).filter(|value| *value <= limit).ok_or_else(|| {
        let message = format!("`{}` is too large", plain(&word.text));
        Fault::at(&word.span, message)
            .help(format!("the largest {what} that a plan has is {limit_shown}"))
    })
}

/// `digits` · 10^`exponent`.
struct Decimal {
    digits: u128,
    exponent: i32,
}

impl Decimal {
    /// The product without its fraction, if it is not too large to hold.
    fn times(&self, unit: u128) -> Option<u64> {
        let power = 10u128.checked_pow(self.exponent.unsigned_abs());
        let scaled = self.digits.checked_mul(unit)?;
        let value = match (self.digits, power) {
            (0, _) => 0,
            (_, Some(power)) if self.exponent >= 0 => scaled.checked_mul(power)?,
            (_, Some(power)) => scaled / power,
            (_, None) if self.exponent < 0 => 0,
            (_, None) => return None,
        };
        u64::try_from(value).ok()
    }
}

/// A number at the beginning of a text, and what follows it.
fn decimal(text: &str) -> Option<(Decimal, &str)> {
    let (whole, rest) = digits(text);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (power, rest) = power_of_ten(rest);
    let all = format!("{whole}{}", fraction.trim_end_matches('0'));
    let all = all.trim_start_matches('0');
    // Those after are too many for any limit, or finer than any unit.
    let kept = &all[..all.len().min(22)];
    let point = all.len() as i64 - kept.len() as i64 - fraction.trim_end_matches('0').len() as i64;
    let exponent = (point + power).clamp(-1_000_000, 1_000_000) as i32;
    Some((Decimal { digits: kept.parse().unwrap_or(0), exponent }, rest))
}

/// The digits that a text begins with, and the rest.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// `e3`, if a text begins like that, and the rest.
fn power_of_ten(text: &str) -> (i64, &str) {
    let Some(power) = text.strip_prefix(['e', 'E']) else { return (0, text) };
    let (size, rest) = digits(power.strip_prefix(['+', '-']).unwrap_or(power));
    let sign = if power.starts_with('-') { -1 } else { 1 };
    match size {
        "" => (0, text),
        size => (sign * size.parse::<i64>().unwrap_or(1_000_000).min(1_000_000), rest),
    }
}

/// A number as C's strtoul reads it, if it fits; a base of 0 takes 0x for hexadecimal and 0 for
/// octal.
pub(crate) fn number<T: TryFrom<u64>>(text: &str, base: u32) -> Option<T> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, base) = match (base, hex) {
        (0 | 16, Some(hex)) => (hex, 16),
        (0, None) if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        (0, None) => (text, 10),
        (base, _) => (text, base),
    };
    let plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    u64::from_str_radix(digits, base).ok().filter(|_| plain)?.try_into().ok()
}

/// The number behind a name in a list of names and numbers.
pub(crate) fn listed<'a>(names: &'a str, name: &str) -> Option<&'a str> {
    let mut words = names.split(' ');
    let is_name = |word: &&str| *word == name && !word.starts_with(|c: char| c.is_ascii_digit());
    words.find(is_name).and_then(|_| words.next())
}

/// A whole number that fits 32 bits, such as a priority.
pub(crate) fn whole(word: &Word, base: u32, what: &str) -> Result<u32, Fault> {
    number(&word.text, base)
        .ok_or_else(|| word.fault(what, "tc reads a whole number below 2^32 here"))
}

/// A whole number that may be negative and fits 32 bits, such as an overhead.
pub(crate) fn signed(word: &Word, what: &str) -> Result<i32, Fault> {
    let text = word.text.as_str();
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let value = number(digits, 0).map(|value: i32| sign * value);
    value.ok_or_else(|| word.fault(what, "tc reads a whole number between -2^31 and 2^31 here"))
}

/// `1:10`, `1:`, `:10` or `10` for a class of the qdisc that is meant anyway.
pub(crate) fn handle(word: &Word) -> Result<Handle, Fault> {
    let (major, minor) = word.text.split_once(':').unwrap_or(("", &word.text));
    let empty = major.is_empty() && minor.is_empty();
    let read = half(major).zip(half(minor)).filter(|_| !empty);
    read.map(|(major, minor)| Handle::new(major, minor)).ok_or_else(|| {
        let accepted = "tc reads two hexadecimal numbers below 10000, such as 1:10";
        word.fault("the name of a class or qdisc", accepted)
    })
}

/// `1:`, or `1` which is the same for a qdisc.
pub(crate) fn major(word: &Word) -> Result<u16, Fault> {
    let major = word.text.split_once(':').map_or(word.text.as_str(), |(major, _)| major);
    half(major).filter(|_| !major.is_empty()).ok_or_else(|| {
        let accepted = "tc reads a hexadecimal number below 10000 and a colon, such as 1:";
        word.fault("the name of a qdisc", accepted)
    })
}

fn half(text: &str) -> Option<u16> {
    match text {
        "" => Some(0),
        text => number(text, 16),
    }
}

/// An address and how many of its leading bits count.
pub(crate) fn network(text: &str) -> Option<(IpAddr, u8)> {
    let parts = text.split_once('/');
    let (address, prefix) = parts.map_or((text, None), |(net, prefix)| (net, Some(prefix)));
    let address: IpAddr = if address.contains(':') {
        address.parse().ok()?
    } else {
        IpAddr::V4(short_address(address)?.into())
    };
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let prefix = match prefix {
        None => bits,
        Some(mask) if mask.contains('.') => prefix_of(u32::from_be_bytes(short_address(mask)?))?,
        Some(prefix) => number(prefix, 0)?,
    };
    (prefix <= bits).then_some((address, prefix))
}

/// `10.7.0.1`, or fewer parts: the others are zero.
fn short_address(text: &str) -> Option<[u8; 4]> {
    let mut address = [0; 4];
    for (at, part) in text.split('.').enumerate() {
        *address.get_mut(at)? = number(part, 0)?;
    }
    Some(address)
}

fn prefix_of(mask: u32) -> Option<u8> {
    (mask.leading_ones() == mask.count_ones()).then_some(mask.leading_ones() as u8)
}

#[cfg(test)]
mod tests;
