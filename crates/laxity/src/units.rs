//! Times, sizes and rates: exact integers, written with their unit.
//!
//! A time is a whole number of nanoseconds, a size a whole number of bytes, a rate a whole number
//! of bits per second. Parsing reads a text such as `5ms`, `1536b`, `1.25MB/s` or `10mbit` exactly
//! or refuses it. `Display` prints a text that parses to the same value.

use alloc::string::{String, ToString};
use core::fmt;
use core::ops::{Add, AddAssign, Sub};
use core::str::FromStr;

/// A time or a span of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A rate in bits a second, never zero when parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// One byte in nanobits, the exact unit of work: a rate in bit/s times a time in ns.
pub const NANOBITS_PER_BYTE: u64 = 8_000_000_000;

impl Nanos {
    /// Zero.
    pub const ZERO: Nanos = Nanos(0);
    /// The latest time, which no event reaches.
    pub const MAX: Nanos = Nanos(u64::MAX);
    /// The longest time that parsing accepts: about 31 years.
    pub const LIMIT: Nanos = Nanos(1_000_000_000_000_000_000);

    /// In seconds, for statistics and figures only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// In milliseconds, for statistics and figures only.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The sum, or [`Nanos::MAX`] where that would overflow.
    pub fn saturating_add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }

    /// The difference, or zero where that would be negative.
    pub fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0 - other.0)
    }
}

impl Bytes {
    /// The largest size that parsing accepts: 1 TB.
    pub const LIMIT: Bytes = Bytes(1_000_000_000_000);
}

impl Rate {
    /// The highest rate that parsing accepts: 10 Tbit/s.
    pub const LIMIT: Rate = Rate(10_000_000_000_000);

    /// How long `size` takes at this rate, rounded up to the next nanosecond.
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn time_for(self, size: Bytes) -> Nanos {
        let work = u128::from(size.0) * u128::from(NANOBITS_PER_BYTE);
        Nanos(u64::try_from(work.div_ceil(u128::from(self.0))).unwrap_or(u64::MAX))
    }
}

/// Why a text is not a time, size or rate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// The text is empty or its number is not a plain decimal.
    #[error(
        "`{text}` is not a {quantity}: write a plain decimal number and a unit, such as {example}"
    )]
    NotANumber {
        /// The text as given.
        text: String,
        /// The name of the quantity that was expected.
        quantity: &'static str,
        /// A text that would be accepted.
        example: &'static str,
    },
    /// A number without its unit.
    #[error("`{text}` has no unit: write a {quantity} such as {example}")]
    MissingUnit {
        /// The text as given.
        text: String,
        /// The name of the quantity that was expected.
        quantity: &'static str,
        /// A text that would be accepted.
        example: &'static str,
    },
    /// A unit that is not one of this quantity's.
    #[error("`{unit}` is not a unit of a {quantity}: the units are {units}")]
    UnknownUnit {
        /// The unit that was read.
        unit: String,
        /// The name of the quantity that was expected.
        quantity: &'static str,
        /// Every unit there is.
        units: String,
    },
    /// `tc`'s `bps`, which means bytes a second there and bits a second everywhere else.
    #[error(
        "`{text}` is ambiguous: tc reads `bps` as bytes a second; write `bit` for bits a second or `B/s` for bytes a second"
    )]
    Ambiguous {
        /// The text as given.
        text: String,
    },
    /// Below zero.
    #[error("`{text}` is negative: a {quantity} is not")]
    Negative {
        /// The text as given.
        text: String,
        /// The name of the quantity that was expected.
        quantity: &'static str,
    },
    /// Zero where it makes no sense.
    #[error("`{text}` is zero: a {quantity} must be more than that")]
    Zero {
        /// The text as given.
        text: String,
        /// The name of the quantity that was expected.
        quantity: &'static str,
    },
    /// Too large.
    #[error("`{text}` is too large: the largest {quantity} is {limit}")]
    TooLarge {
        /// The text as given.
        text: String,
        /// The name of the quantity that was expected.
        quantity: &'static str,
        /// The largest accepted value.
        limit: String,
    },
    /// Finer than the smallest unit.
    #[error("`{text}` is too fine: a {quantity} is a whole number of {smallest}")]
    TooFine {
        /// The text as given.
        text: String,
        /// The name of the quantity that was expected.
        quantity: &'static str,
        /// The smallest unit.
        smallest: &'static str,
    },
}

/// The units and limits of one kind of quantity, for reading and printing.
struct Quantity {
    name: &'static str,
    example: &'static str,
    smallest: &'static str,
    may_be_zero: bool,
    limit: u64,
    /// Unit and its size in the smallest unit; the ones that `Display` uses, largest first, lead.
    units: &'static [(&'static str, u64)],
}

const TIME: Quantity = Quantity {
    name: "time",
    example: "`5ms` or `250us`",
    smallest: "nanoseconds",
    may_be_zero: true,
    limit: Nanos::LIMIT.0,
    units: &[
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
        ("min", 60_000_000_000),
    ],
};

const SIZE: Quantity = Quantity {
    name: "size",
    example: "`1536b` or `30kB`",
    smallest: "bytes",
    may_be_zero: true,
    limit: Bytes::LIMIT.0,
    units: &[
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("kB", 1_000),
        ("b", 1),
        ("B", 1),
        ("KB", 1_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
    ],
};

const RATE: Quantity = Quantity {
    name: "rate",
    example: "`10mbit` or `1.25MB/s`",
    smallest: "bits a second",
    may_be_zero: false,
    limit: Rate::LIMIT.0,
    units: &[
        ("gbit", 1_000_000_000),
        ("mbit", 1_000_000),
        ("kbit", 1_000),
        ("bit", 1),
        ("tbit", 1_000_000_000_000),
        ("Tbit", 1_000_000_000_000),
        ("Gbit", 1_000_000_000),
        ("Mbit", 1_000_000),
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Tbit/s", 1_000_000_000_000),
        ("B/s", 8),
        ("kB/s", 8_000),
        ("MB/s", 8_000_000),
        ("GB/s", 8_000_000_000),
        ("TB/s", 8_000_000_000_000),
    ],
};

impl Quantity {
    fn parse(&self, text: &str) -> Result<u64, UnitError> {
        let Quantity { name: quantity, example, smallest, .. } = *self;
        let owned = || text.to_string();
        let trimmed = text.trim();
        let split = trimmed
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+')))
            .unwrap_or(trimmed.len());
        let (number, unit) = (&trimmed[..split], trimmed[split..].trim_start());
        let not_a_number = || UnitError::NotANumber { text: owned(), quantity, example };
        if let Some(magnitude) = number.strip_prefix('-') {
            decimal(magnitude).ok_or_else(not_a_number)?;
            return Err(UnitError::Negative { text: owned(), quantity });
        }
        let (digits, fraction_digits) = decimal(number).ok_or_else(not_a_number)?;
        let digits = digits.ok_or_else(|| self.too_large(text))?;
        let unit_size = self.unit_size(text, unit)?;
        let scale = 10u128.pow(fraction_digits);
        let scaled =
            digits.checked_mul(u128::from(unit_size)).ok_or_else(|| self.too_large(text))?;
        if scaled % scale != 0 {
            return Err(UnitError::TooFine { text: owned(), quantity, smallest });
        }
        match u64::try_from(scaled / scale) {
            Ok(0) if !self.may_be_zero => Err(UnitError::Zero { text: owned(), quantity }),
            Ok(value) if value <= self.limit => Ok(value),
            _ => Err(self.too_large(text)),
        }
    }

    fn unit_size(&self, text: &str, unit: &str) -> Result<u64, UnitError> {
        let Quantity { name: quantity, example, .. } = *self;
        if unit.is_empty() {
            return Err(UnitError::MissingUnit { text: text.to_string(), quantity, example });
        }
        if let Some((_, size)) = self.units.iter().find(|(name, _)| *name == unit) {
            return Ok(*size);
        }
        if unit.to_ascii_lowercase().ends_with("bps") {
            return Err(UnitError::Ambiguous { text: text.to_string() });
        }
        let units = self.units.iter().map(|(name, _)| *name).collect::<alloc::vec::Vec<_>>();
        Err(UnitError::UnknownUnit { unit: unit.to_string(), quantity, units: units.join(", ") })
    }

    fn too_large(&self, text: &str) -> UnitError {
        let (unit, size) = self.units[0];
        let limit = alloc::format!("{}{unit}", self.limit / size);
        UnitError::TooLarge { text: text.to_string(), quantity: self.name, limit }
    }

    /// Prints exactly, in the largest unit that leaves a whole part.
    fn print(&self, value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.units[..4];
        let (unit, size) = shown.iter().find(|(_, size)| value >= *size).unwrap_or(&shown[3]);
        let (whole, rest) = (value / size, value % size);
        if rest == 0 {
            return write!(f, "{whole}{unit}");
        }
        let width = size.ilog10() as usize;
        let fraction = alloc::format!("{rest:0width$}");
        write!(f, "{whole}.{}{unit}", fraction.trim_end_matches('0'))
    }
}

/// The digits of a plain decimal without its point, `None` if there are too many, and how many of
/// them follow the point. `None` for any other text.
fn decimal(text: &str) -> Option<(Option<u128>, u32)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let plain = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if !plain(whole) || !plain(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let whole = whole.trim_start_matches('0');
    let digits = whole.bytes().chain(fraction.bytes()).map(|b| u128::from(b - b'0'));
    let are_few = whole.len() + fraction.len() <= 24;
    let digits = are_few.then(|| digits.fold(0, |sum, digit| sum * 10 + digit));
    Some((digits, fraction.len() as u32))
}

/// Reads and prints numbers of a unit as this quantity.
macro_rules! text {
    ($($unit:ident: $quantity:ident),+) => {$(
        impl FromStr for $unit {
            type Err = UnitError;

            fn from_str(text: &str) -> Result<Self, UnitError> {
                $quantity.parse(text).map($unit)
            }
        }

        impl fmt::Display for $unit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $quantity.print(self.0, f)
            }
        }
    )+};
}
text!(Nanos: TIME, Bytes: SIZE, Rate: RATE);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_the_units_of_plans() {
        assert_eq!("5ms".parse(), Ok(Nanos(5_000_000)));
        assert_eq!("250us".parse(), Ok(Nanos(250_000)));
        assert_eq!("0.5 s".parse(), Ok(Nanos(500_000_000)));
        assert_eq!("1536b".parse(), Ok(Bytes(1536)));
        assert_eq!("30kB".parse(), Ok(Bytes(30_000)));
        assert_eq!("1KiB".parse(), Ok(Bytes(1024)));
        assert_eq!("10mbit".parse(), Ok(Rate(10_000_000)));
        assert_eq!("1.25MB/s".parse(), Ok(Rate(10_000_000)));
        assert_eq!("150kB/s".parse(), Ok(Rate(1_200_000)));
    }

    #[test]
    fn refuses_everything_else_with_its_own_reason() {
        use UnitError::*;
        assert!(matches!("10".parse::<Rate>(), Err(MissingUnit { .. })));
        assert!(matches!("10Mbps".parse::<Rate>(), Err(Ambiguous { .. })));
        assert!(matches!("-5ms".parse::<Nanos>(), Err(Negative { .. })));
        assert!(matches!("0mbit".parse::<Rate>(), Err(Zero { .. })));
        assert!(matches!("fastmbit".parse::<Rate>(), Err(NotANumber { .. })));
        assert!(matches!("NaN".parse::<Nanos>(), Err(NotANumber { .. })));
        assert!(matches!("".parse::<Bytes>(), Err(NotANumber { .. })));
        assert!(matches!("1e3ms".parse::<Nanos>(), Err(UnknownUnit { .. })));
        assert!(matches!("5 parsec".parse::<Nanos>(), Err(UnknownUnit { .. })));
        assert!(matches!("11tbit".parse::<Rate>(), Err(TooLarge { .. })));
        assert!(matches!("9999999999999999999999999999mbit".parse::<Rate>(), Err(TooLarge { .. })));
        assert!(matches!("0.5b".parse::<Bytes>(), Err(TooFine { .. })));
    }

    #[test]
    fn every_prefix_goes_with_every_unit() {
        for (power, prefix) in (1..).zip(["k", "M", "G", "T"]) {
            let bytes = 1000u64.pow(power);
            let half = |unit: &str| alloc::format!("0.5{prefix}{unit}");
            assert_eq!(half("B").parse(), Ok(Bytes(bytes / 2)));
            let rate = Rate(bytes / 2);
            assert_eq!(half("bit/s").parse(), Ok(rate));
            assert_eq!(half("bit").parse(), Ok(rate));
            assert_eq!(half("bit").to_ascii_lowercase().parse(), Ok(rate));
            assert_eq!(half("B/s").parse(), Ok(Rate(bytes * 4)));
            let binary = alloc::format!("0.5{}iB", prefix.to_ascii_uppercase());
            assert_eq!(binary.parse(), Ok(Bytes(1024u64.pow(power) / 2)));
        }
    }

    #[test]
    fn a_transmission_time_is_rounded_up() {
        assert_eq!(Rate(10_000_000).time_for(Bytes(1536)), Nanos(1_228_800));
        assert_eq!(Rate(3).time_for(Bytes(1)), Nanos(2_666_666_667));
    }

    proptest! {
        #[test]
        fn prints_what_it_reads(value in 0..=Nanos::LIMIT.0, size in 0..=Bytes::LIMIT.0, rate in 1..=Rate::LIMIT.0) {
            prop_assert_eq!(Nanos(value).to_string().parse(), Ok(Nanos(value)));
            prop_assert_eq!(Bytes(size).to_string().parse(), Ok(Bytes(size)));
            prop_assert_eq!(Rate(rate).to_string().parse(), Ok(Rate(rate)));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = text.parse::<Nanos>();
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<Rate>();
        }
    }
}
