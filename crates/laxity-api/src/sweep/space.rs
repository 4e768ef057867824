//! The combinations of values that a study tries.

use laxity_plan::edit::Path;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Every entry of a grid with every entry of a list with every point of a sample, each one empty
/// entry if it is not there.
#[derive(Clone, Debug, Default)]
pub struct Space {
    /// The keys that vary, in the order in which they first appear.
    pub keys: Vec<Path>,
    /// Each value of each key with each of all others.
    pub axes: Vec<Axis>,
    /// Combinations that are listed one by one.
    pub list: Vec<Vec<(Path, String)>>,
    /// Sampled keys with their ranges. Each point of the sample has a value of each.
    pub sampled: Vec<(Path, Range)>,
    /// How many points the sample has.
    pub points: usize,
    /// What it is drawn with.
    pub seed: u64,
}

/// A key and its values, written in TOML.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The key.
    pub key: Path,
    /// Its values, at least one.
    pub values: Vec<String>,
}

/// Numbers of one unit between two, either evenly or by their logarithms.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    from: f64,
    to: f64,
    unit: String,
    pub(super) is_log: bool,
    /// Numbers without a unit whose ends are whole are.
    is_whole: bool,
}

impl Range {
    /// Between two values written in TOML; `None` if they are no numbers of the same unit, or the
    /// first is not below the second, or not above zero where logarithms count.
    pub fn new(from: &str, to: &str, is_log: bool) -> Option<Range> {
        let ((from, unit), (to, other)) = (split(from)?, split(to)?);
        let is_whole = from.fract() == 0.0 && to.fract() == 0.0 && matches!(&*unit, "" | "b");
        let fits = unit == other && from < to && (from > 0.0 || !is_log);
        fits.then_some(Range { from, to, unit, is_log, is_whole })
    }

    /// The value at a part of the way, written in TOML.
    fn at(&self, part: f64) -> String {
        let value = if self.is_log {
            self.from * (self.to / self.from).powf(part)
        } else {
            self.from + (self.to - self.from) * part
        };
        let number = if self.is_whole {
            format!("{}", value.round())
        } else {
            format!(
                "{:.*}",
                5i64.saturating_sub(value.abs().log10().floor() as i64).clamp(0, 6) as usize,
                value
            )
        };
        match &*self.unit {
            "" if self.is_whole => number,
            "" if number.contains('.') => number,
            "" => number + ".0",
            unit => format!("\"{number}{unit}\""),
        }
    }
}

/// A number and its unit.
fn split(value: &str) -> Option<(f64, String)> {
    let text = value.trim().trim_matches(['"', '\'']);
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    Some((number, text[end..].to_owned())).filter(|_| number.is_finite())
}

impl Space {
    /// Finds the keys that vary.
    ///
    /// # Errors
    /// If a key varies in two places at once.
    pub fn settle(&mut self) -> Result<(), String> {
        let grid = self.axes.iter().map(|axis| &axis.key);
        let sampled = self.sampled.iter().map(|(key, _)| key);
        let mut listed: Vec<&Path> = Vec::new();
        for (key, _) in self.list.iter().flatten() {
            if !listed.contains(&key) {
                listed.push(key);
            }
        }
        let mut keys: Vec<Path> = Vec::new();
        for key in grid.chain(listed).chain(sampled) {
            if keys.contains(key) {
                return Err(format!(
                    "`{key}` varies in two places: in one of grid, list and sample it does once"
                ));
            }
            keys.push(key.clone());
        }
        self.keys = keys;
        Ok(())
    }

    /// How many combinations there are.
    pub fn len(&self) -> usize {
        let grid = self.axes.iter().fold(1usize, |all, axis| all.saturating_mul(axis.values.len()));
        grid.saturating_mul(self.list.len().max(1)).saturating_mul(self.points.max(1))
    }

    /// Whether nothing varies.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Every combination: for each key its value, written in TOML, or `None` where the plan's own
    /// counts.
    pub fn points(&self) -> impl Iterator<Item = Vec<Option<String>>> {
        let sample = self.sample();
        (0..self.len()).map(move |number| self.point(number, &sample))
    }

    /// For each key every value that it takes in a combination, written in TOML.
    pub(super) fn values(&self) -> Vec<Vec<String>> {
        let sample = self.sample();
        let of = |key: &Path| -> Vec<String> {
            let grid = self.axes.iter().filter(|axis| axis.key == *key);
            let grid = grid.flat_map(|axis| axis.values.iter().cloned());
            let listed = self.list.iter().flatten().filter(|(known, _)| known == key);
            let listed = listed.map(|(_, value)| value.clone());
            let sampled = self.sampled.iter().zip(&sample).filter(|((known, _), _)| known == key);
            let sampled = sampled
                .flat_map(|((_, range), parts)| parts.iter().map(move |part| range.at(*part)));
            grid.chain(listed).chain(sampled).collect()
        };
        self.keys.iter().map(of).collect()
    }

    fn point(&self, number: usize, sample: &[Vec<f64>]) -> Vec<Option<String>> {
        let mut values = vec![None; self.keys.len()];
        let mut rest = number;
        let mut digit = |of: usize| {
            let digit = rest % of;
            rest /= of;
            digit
        };
        // What was named last changes fastest.
        let (point, entry) = (digit(self.points.max(1)), digit(self.list.len().max(1)));
        for (place, axis) in self.axes.iter().enumerate().rev() {
            values[place] = Some(axis.values[digit(axis.values.len())].clone());
        }
        let mut set = |key: &Path, value: String| {
            let place = self.keys.iter().position(|known| known == key).expect("settled");
            values[place] = Some(value);
        };
        for (key, value) in self.list.get(entry).into_iter().flatten() {
            set(key, value.clone());
        }
        for ((key, range), parts) in self.sampled.iter().zip(sample) {
            set(key, range.at(parts[point]));
        }
        values
    }

    fn sample(&self) -> Vec<Vec<f64>> {
        latin_hypercube(self.sampled.len(), self.points, self.seed)
    }
}

/// A Latin hypercube (McKay, Beckman, Conover 1979): in every direction each of as many equal parts
/// of the way from 0 to 1 has one point, at random within that. By direction, what each point has
/// of it.
pub(crate) fn latin_hypercube(directions: usize, points: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut draw = Pcg64::seed_from_u64(seed);
    let mut parts = || {
        let mut strata: Vec<usize> = (0..points).collect();
        strata.shuffle(&mut draw);
        let within = |stratum| (stratum as f64 + draw.random::<f64>()) / points as f64;
        strata.into_iter().map(within).collect()
    };
    (0..directions).map(|_| parts()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Path {
        text.parse().unwrap()
    }

    fn axis(of: &str, values: &[&str]) -> Axis {
        Axis { key: key(of), values: values.iter().map(ToString::to_string).collect() }
    }

    /// Zero has no logarithm that says how many digits there are.
    #[test]
    fn values_are_written_to_six_digits() {
        let range = Range::new("0.0", "123.456", false).unwrap();
        assert_eq!(range.at(0.0), "0.000000");
        assert_eq!(range.at(1.0), "123.456");
        assert_eq!(range.at(0.001), "0.123456");
    }

    #[test]
    fn each_value_comes_with_each_other() {
        let mut space = Space {
            axes: vec![axis("a", &["1", "2"]), axis("b", &["3", "4", "5"])],
            list: vec![vec![(key("c"), "6".into())], vec![(key("d"), "7".into())]],
            ..Space::default()
        };
        space.settle().unwrap();
        let points: Vec<_> = space.points().collect();
        assert_eq!((points.len(), space.len()), (12, 12));
        let text = |point: &Vec<Option<String>>| {
            let words = point.iter().map(|value| value.clone().unwrap_or("-".into()));
            words.collect::<Vec<_>>().concat()
        };
        let texts: Vec<String> = points.iter().map(text).collect();
        assert_eq!(texts[..5], ["136-", "13-7", "146-", "14-7", "156-"]);
        assert_eq!(texts.iter().collect::<std::collections::BTreeSet<_>>().len(), 12);
        assert_eq!(space.values().concat(), ["1", "2", "3", "4", "5", "6", "7"]);
    }

    #[test]
    fn a_sample_has_a_point_in_every_part_of_every_range() {
        let mut space = Space {
            sampled: vec![
                (key("link.rate"), Range::new("'8mbit'", "'24mbit'", false).unwrap()),
                (key("class.a.weight"), Range::new("1", "100", true).unwrap()),
                (key("x"), Range::new("0.5", "2.5", false).unwrap()),
            ],
            points: 16,
            seed: 3,
            ..Space::default()
        };
        space.settle().unwrap();
        let points: Vec<_> = space.points().collect();
        let rates: Vec<f64> =
            points.iter().map(|point| split(point[0].as_ref().unwrap()).unwrap().0).collect();
        let mut parts: Vec<usize> = rates.iter().map(|rate| (rate - 8.0) as usize).collect();
        parts.sort_unstable();
        assert_eq!(parts, (0..16).collect::<Vec<_>>());
        assert!(points.iter().all(|point| point[0].as_ref().unwrap().ends_with("mbit\"")));
        assert!(points.iter().all(|point| point[1].as_ref().unwrap().parse::<u64>().is_ok()));
        assert!(points.iter().all(|point| point[2].as_ref().unwrap().contains('.')));
        assert_eq!(points, space.points().collect::<Vec<_>>(), "the same seed, the same points");
        space.seed = 4;
        assert_ne!(points, space.points().collect::<Vec<_>>());
    }

    #[test]
    fn ranges_are_of_one_unit_and_upwards() {
        for (from, to) in [("'1ms'", "'1s'"), ("'2ms'", "'1ms'"), ("'ms'", "'1ms'"), ("true", "2")]
        {
            assert_eq!(Range::new(from, to, false), None, "{from} {to}");
        }
        assert_eq!(Range::new("0", "1", true), None);
    }

    #[test]
    fn a_key_varies_in_one_place() {
        let mut space =
            Space { axes: vec![axis("a", &["1"]), axis("a", &["2"])], ..Space::default() };
        assert!(space.settle().unwrap_err().contains("`a` varies in two places"));
    }
}
