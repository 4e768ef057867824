//! Numbers as people read them: four significant digits and a unit that fits.

/// Names of a quantity's units with their sizes in its base unit, largest first.
pub(crate) type Units = &'static [(&'static str, f64)];

pub(crate) const SECONDS: Units =
    &[("h", 3600.0), ("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)];
pub(crate) const BITS_A_SECOND: Units =
    &[("Tbit/s", 1e12), ("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3), ("bit/s", 1.0)];
pub(crate) const BYTES: Units = &[("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)];
pub(crate) const PERCENT: Units = &[("%", 1e-2)];
pub(crate) const NUMBER: Units = &[("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0)];

/// What stands where a number does not apply.
pub const NOTHING: &str = "—";

/// How many hours a time must last before it is given in hours.
const HOURS_FROM: f64 = 3.0;

/// A time in ns with its unit: `5 ms`, `3.481 ms`, `360 s`.
pub fn time(ns: f64) -> String {
    with_unit(ns / 1e9, SECONDS)
}

/// A rate in bit/s with its unit: `10 Mbit/s`.
pub fn rate(bits_per_second: f64) -> String {
    with_unit(bits_per_second, BITS_A_SECOND)
}

/// A size in bytes with its unit: `1.536 kB`.
pub fn size(bytes: f64) -> String {
    with_unit(bytes, BYTES)
}

/// A share from 0 to 1 as a percentage: `97.31 %`.
pub fn percent(share: f64) -> String {
    with_unit(share, PERCENT)
}

/// A number in thousands, millions or billions: `3.214 M`.
pub fn scaled(value: f64) -> String {
    with_unit(value, NUMBER)
}

/// The unit that all times of a table have, which its head names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeUnit {
    /// How it is written.
    pub name: &'static str,
    nanos: f64,
}

impl TimeUnit {
    /// Milliseconds, in which most delays are told.
    pub const MILLIS: TimeUnit = TimeUnit { name: "ms", nanos: 1e6 };
    const MICROS: TimeUnit = TimeUnit { name: "µs", nanos: 1e3 };
    const NANOS: TimeUnit = TimeUnit { name: "ns", nanos: 1.0 };
    const SECONDS: TimeUnit = TimeUnit { name: "s", nanos: 1e9 };

    /// The unit for a table of times in ns: milliseconds, unless all are shorter or none is below a
    /// second.
    pub fn new(times: impl IntoIterator<Item = Option<f64>>) -> TimeUnit {
        let times = times.into_iter().flatten().filter(|ns| *ns > 0.0 && ns.is_finite());
        let (least, most) =
            times.fold((f64::INFINITY, 0.0f64), |(least, most), ns| (least.min(ns), most.max(ns)));
        match most {
            0.0 => TimeUnit::MILLIS,
            _ if least >= 1e9 => TimeUnit::SECONDS,
            most if most >= 1e6 => TimeUnit::MILLIS,
            most if most >= 1e3 => TimeUnit::MICROS,
            _ => TimeUnit::NANOS,
        }
    }

    /// The unit for a table of times in whole nanoseconds.
    pub fn from_whole(times: impl IntoIterator<Item = Option<u64>>) -> TimeUnit {
        TimeUnit::new(times.into_iter().map(|ns| ns.map(|ns| ns as f64)))
    }

    /// The factor from a time in ns to this unit.
    pub fn scale(self) -> f64 {
        1.0 / self.nanos
    }

    /// A time in ns as a bare number of this unit, if there is one.
    pub fn cell(self, ns: impl Into<Option<f64>>) -> String {
        ns.into().map_or(NOTHING.to_owned(), |ns| column(ns / self.nanos))
    }

    /// The same of whole nanoseconds.
    pub fn whole(self, ns: Option<u64>) -> String {
        self.cell(ns.map(|ns| ns as f64))
    }

    /// What a column of such times is called.
    pub fn head(self, of: &str) -> String {
        format!("{of} {}", self.name)
    }

    /// The same where units stand in brackets.
    pub fn bracketed(self, of: &str) -> String {
        format!("{of} [{}]", self.name)
    }
}

/// A bare number, for columns.
pub fn number(value: f64) -> String {
    column(value)
}

/// A rate in bit/s as a bare number of Mbit/s, for columns.
pub fn megabits(bits_per_second: f64) -> String {
    column(bits_per_second / 1e6)
}

/// A whole number in groups of three digits: `1 234 567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut grouped = String::with_capacity(digits.len() * 2);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

/// At most `limit` characters of a name on one line; an ellipsis stands for what was cut off.
pub fn shortened(name: &str, limit: usize) -> String {
    let mut clean = name.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut short: String = clean.by_ref().take(limit).collect();
    if clean.next().is_some() {
        short.pop();
        short.push('…');
    }
    short
}

/// The unit that leaves one to three digits before the point.
pub(crate) fn unit_for(value: f64, units: Units) -> (&'static str, f64) {
    let fits = |&&(name, size): &&(&str, f64)| {
        value.abs() >= size * if name == "h" { HOURS_FROM } else { 1.0 - 1e-9 }
    };
    *units.iter().find(fits).unwrap_or(&units[units.len() - 1])
}

/// A value of the base unit with the unit that fits, trailing zeros left out.
pub(crate) fn with_unit(value: f64, units: Units) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    let base = units.iter().find(|(_, size)| *size == 1.0).or(units.last());
    let (unit, size) =
        if value == 0.0 { base.copied().unwrap_or(("", 1.0)) } else { unit_for(value, units) };
    joined(&plain(value / size), unit)
}

/// A number and its unit, kept on one line.
pub(crate) fn joined(number: &str, unit: &str) -> String {
    if unit.is_empty() { number.to_owned() } else { format!("{number}\u{a0}{unit}") }
}

/// Four significant digits without trailing zeros.
fn plain(value: f64) -> String {
    let text = format!("{value:.*}", decimals(value, 12));
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Four significant digits, at most four of them behind the point unless there are fewer than two
/// then.
fn column(value: f64) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    let decimals = decimals(value, 4.max(decimals(value, MOST_DECIMALS).saturating_sub(2)));
    format!("{value:.decimals$}")
}

/// Of numbers so small that they are told from zero no more.
const MOST_DECIMALS: usize = 14;

/// How many decimals show four significant digits.
fn decimals(value: f64, most: usize) -> usize {
    if value == 0.0 {
        return 0;
    }
    let rounded = format!("{value:.3e}");
    let exponent: i32 = rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    usize::try_from(3 - exponent).unwrap_or(0).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_take_the_unit_that_fits() {
        let spaced = |text: String| text.replace('\u{a0}', " ");
        assert_eq!(spaced(time(5e6)), "5 ms");
        assert_eq!(spaced(time(3_481_234.0)), "3.481 ms");
        assert_eq!(spaced(time(360e9)), "360 s");
        assert_eq!(spaced(time(36_000e9)), "10 h");
        assert_eq!(spaced(time(1.0)), "1 ns");
        assert_eq!(spaced(time(0.0)), "0 s");
        assert_eq!(spaced(rate(10e6)), "10 Mbit/s");
        assert_eq!(spaced(percent(0.00001)), "0.001 %");
        assert_eq!(time(f64::NAN), NOTHING);
        assert_eq!(spaced(scaled(3_214_159.0)), "3.214 M");
        assert_eq!(scaled(250.0), "250");
    }

    #[test]
    fn columns_hold_four_significant_digits() {
        let millis = |ns: f64| TimeUnit::MILLIS.cell(ns);
        let shown = [1.2e3, 531_200.0, 9_999_600.0, 28_820_000.0, 1e10].map(millis);
        assert_eq!(shown, ["0.0012", "0.5312", "10.00", "28.82", "10000"]);
        assert_eq!([12.0, 1.0, 999.0].map(millis), ["0.000012", "0.0000010", "0.00100"]);
        assert_eq!(millis(0.0), "0");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
    }

    #[test]
    fn times_of_a_table_have_the_unit_that_fits() {
        let of = |times: &[f64]| TimeUnit::new(times.iter().copied().map(Some)).name;
        assert_eq!(of(&[1.2e3, 48.6e3, 0.0]), "µs");
        assert_eq!(of(&[12.0, 999.0]), "ns");
        assert_eq!(of(&[1.2e3, 5e6, 4e9]), "ms");
        assert_eq!(of(&[1.5e9, 72e9]), "s");
        assert_eq!(of(&[0.0, f64::NAN]), "ms");
        assert_eq!(TimeUnit::new([None]).name, "ms");
        assert_eq!(TimeUnit::MICROS.head("mean"), "mean µs");
    }

    proptest::proptest! {
        /// Whatever else is in the table, at any rate of a link.
        #[test]
        fn no_time_is_shown_as_another(times in proptest::collection::vec(0.0f64..13.0, 1..30)) {
            let times: Vec<f64> = times.into_iter().map(|power| 10f64.powf(power)).collect();
            let unit = TimeUnit::new(times.iter().copied().map(Some));
            for ns in times {
                let shown: f64 = unit.cell(ns).parse().unwrap();
                let again = shown * unit.nanos;
                proptest::prop_assert!((again - ns).abs() <= 0.05 * ns, "{ns} ns as {shown} {}", unit.name);
            }
        }
    }

    #[test]
    fn long_names_end_in_an_ellipsis() {
        assert_eq!(shortened("voice", 5), "voice");
        assert_eq!(shortened("voices", 5), "voic…");
        assert_eq!(shortened("a\nb", 5), "a b");
    }
}
