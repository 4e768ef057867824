//! Keys whose values are sought.

use laxity_plan::edit::Path;

use crate::sweep::{Quantity, store::plain};

/// A key, and between which values the one that it gets is sought.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The key.
    pub path: Path,
    /// What its values are.
    pub kind: Kind,
    /// The least number, in the least unit of its kind.
    pub from: f64,
    /// The largest.
    pub to: f64,
    /// Whether samples are even by logarithms.
    pub is_log: bool,
}

/// What values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Times, rates or sizes, as whole numbers of the least unit.
    Of(Quantity),
    /// Whole numbers.
    Whole,
    /// Any numbers.
    Real,
}

/// Above this not every whole number has a float of its own.
const MOST: f64 = 9_007_199_254_740_992.0;

impl Key {
    /// Between two values written in TOML; `None` if they are no numbers of one kind, or the first
    /// is not below the second, or not above zero where logarithms count.
    pub fn new(path: Path, from: &str, to: &str, is_log: bool) -> Option<Key> {
        let kinds = Quantity::ALL.map(Kind::Of).into_iter().chain([Kind::Whole, Kind::Real]);
        let ends = |kind: Kind| Some((kind, kind.number(from)?, kind.number(to)?));
        let (kind, from, to) = kinds.into_iter().find_map(ends)?;
        let fits = from < to && to < MOST && (from > 0.0 || !is_log);
        fits.then_some(Key { path, kind, from, to, is_log })
    }

    /// The number at a part of the way from one end to the other.
    pub fn at(&self, part: f64) -> f64 {
        let number = if self.is_log {
            self.from * (self.to / self.from).powf(part)
        } else {
            self.from + (self.to - self.from) * part
        };
        let number = if self.kind == Kind::Real { number } else { number.round() };
        number.clamp(self.from, self.to)
    }

    /// A number as it is written in TOML.
    pub fn written(&self, number: f64) -> String {
        match self.kind {
            Kind::Of(quantity) => format!("\"{}\"", quantity.written(number as u64)),
            Kind::Whole => format!("{number}"),
            Kind::Real => format!("{number:?}"),
        }
    }

    /// The same without quotes.
    pub fn shown(&self, number: f64) -> String {
        plain(&self.written(number)).to_owned()
    }

    /// The number of a value written in TOML, if it lies between the ends.
    pub fn number(&self, value: &str) -> Option<f64> {
        self.kind.number(value).filter(|number| (self.from..=self.to).contains(number))
    }
}

impl Kind {
    fn number(self, value: &str) -> Option<f64> {
        match self {
            Kind::Of(quantity) => quantity.read(plain(value.trim())).map(|number| number as f64),
            Kind::Whole => value.trim().parse::<u64>().ok().map(|number| number as f64),
            Kind::Real => value.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(from: &str, to: &str, is_log: bool) -> Option<Key> {
        Key::new("link.rate".parse().unwrap(), from, to, is_log)
    }

    #[test]
    fn ends_are_of_one_kind_and_upwards() {
        for (from, to, is_log) in [
            ("'1ms'", "'1mbit'", false),
            ("'2ms'", "'1ms'", false),
            ("'1ms'", "5", false),
            ("0", "5", true),
            ("true", "5", false),
            ("1", "9007199254740993", false),
            ("nan", "1", false),
        ] {
            assert_eq!(key(from, to, is_log), None, "{from} {to}");
        }
        assert_eq!(key("'900us'", "'1ms'", false).unwrap().from, 9e5, "units may differ");
    }

    #[test]
    fn values_are_written_exactly() {
        let rate = key("'5mbit'", "'50mbit'", false).unwrap();
        assert_eq!((rate.at(0.0), rate.at(1.0)), (5e6, 5e7));
        assert_eq!(rate.written(17_234_567.0), "\"17.234567mbit\"");
        assert_eq!(rate.number("'17.234567mbit'"), Some(17_234_567.0));
        assert_eq!(rate.number("'4mbit'"), None);
        let weight = key("1", "100", true).unwrap();
        assert_eq!((weight.at(0.5), weight.written(7.0)), (10.0, "7".to_owned()));
        let part = key("0.5", "2", false).unwrap();
        assert_eq!((part.written(part.at(1.0)), part.kind), ("2.0".to_owned(), Kind::Real));
    }
}
