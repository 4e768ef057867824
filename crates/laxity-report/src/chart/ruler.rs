//! From values to places along an axis, and the ticks in between.

use super::{Axis, Scale, Unit};
use crate::quantity::{self, Units, joined, unit_for, with_unit};

/// Beyond these, values are taken for broken and left out.
const LARGEST: f64 = 1e15;
/// More decades than anyone measures; smaller values lie on the axis' lower end.
const MOST_DECADES: i32 = 12;

/// An axis with its range settled.
pub(super) struct Ruler {
    from: f64,
    to: f64,
    scale: Scale,
    /// Where lines and labels are drawn.
    pub ticks: Vec<Tick>,
    /// Where fainter lines are drawn.
    pub minor: Vec<f64>,
}

pub(super) struct Tick {
    pub at: f64,
    pub label: String,
}

impl Ruler {
    /// The ruler for an axis and its values, with at most about `room` labels. `snug` ends a
    /// linear axis at its first and last value, otherwise zero and a round number.
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>, room: usize, snug: bool) -> Ruler {
        let usable = |value: &f64| match axis.scale {
            Scale::Linear => value.abs() < LARGEST,
            Scale::Log => *value > 0.0 && *value < LARGEST,
        };
        let (low, high) = match axis.range {
            Some((low, high)) if usable(&low) && usable(&high) && low < high => (low, high),
            _ => values
                .filter(usable)
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v))),
        };
        let given = axis.range == Some((low, high));
        match axis.scale {
            Scale::Linear => linear(low, high, axis.unit, room, snug, given),
            Scale::Log => log(low, high, axis.unit, room, given),
        }
    }

    /// Where a value lies, from 0 at the lower end to 1 at the upper one.
    pub fn place(&self, value: f64) -> Option<f64> {
        if !value.is_finite() || value.abs() >= LARGEST {
            return None;
        }
        let at = match self.scale {
            Scale::Linear => (value - self.from) / (self.to - self.from),
            Scale::Log if value <= 0.0 => 0.0,
            Scale::Log => (value / self.from).ln() / (self.to / self.from).ln(),
        };
        Some(if self.scale == Scale::Log { at.max(0.0) } else { at }).filter(|at| at.is_finite())
    }
}

fn units(unit: Unit) -> Units {
    match unit {
        Unit::Number => quantity::NUMBER,
        Unit::Count => quantity::COUNT,
        Unit::Time => quantity::SECONDS,
        Unit::Share => quantity::PERCENT,
        Unit::Rate => quantity::BITS_A_SECOND,
        Unit::Size => quantity::BYTES,
    }
}

fn linear(low: f64, high: f64, unit: Unit, room: usize, snug: bool, given: bool) -> Ruler {
    let (mut low, mut high) = if low <= high { (low, high) } else { (0.0, 1.0) };
    if !snug && !given {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    if high - low <= low.abs().max(high.abs()) * 1e-9 {
        (low, high) =
            if high == 0.0 { (0.0, 1.0) } else { (low.min(low * 2.0).min(0.0), high.max(0.0)) };
    }
    let (name, size) = unit_for(high.abs().max(low.abs()), units(unit));
    let (mut from, mut to) = (low / size, high / size);
    let least = if unit == Unit::Count { 1.0 } else { 0.0 };
    let step = round_step(((to - from) / room.max(1) as f64).max(least));
    if !snug && !given {
        (from, to) = ((from / step).floor() * step, (to / step).ceil() * step);
    }
    let decimals = usize::try_from(-step.log10().floor() as i64).unwrap_or(0);
    let first = (from / step - 1e-6).ceil() as i64;
    let last = (to / step + 1e-6).floor() as i64;
    let ticks = (first..=last).map(|n| {
        let value = n as f64 * step;
        Tick { at: value * size, label: joined(&format!("{value:.decimals$}"), name) }
    });
    Ruler {
        from: from * size,
        to: to * size,
        scale: Scale::Linear,
        ticks: ticks.collect(),
        minor: vec![],
    }
}

/// The smallest of 1, 2, 5, 10, 20, … that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powi(least.log10().floor() as i32);
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|m| m * power)
        .find(|step| *step >= least * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

fn log(low: f64, high: f64, unit: Unit, room: usize, given: bool) -> Ruler {
    let (low, high) = if low <= high { (low, high) } else { (1.0, 10.0) };
    let low = low.max(high * 10f64.powi(-MOST_DECADES));
    let first = low.log10().floor() as i32 - 1;
    let last = high.log10().ceil() as i32 + 1;
    let steps = |multiples: &'static [f64]| {
        (first..=last).flat_map(move |e| multiples.iter().map(move |m| m * 10f64.powi(e)))
    };
    let (from, to) = if given {
        (low, high)
    } else {
        let below = steps(&[1.0, 2.0, 5.0]).rfind(|v| *v <= low * (1.0 + 1e-9)).unwrap_or(low);
        let above = steps(&[1.0, 2.0, 5.0]).find(|v| *v >= high * (1.0 - 1e-9) && *v > below * 1.5);
        (below, above.unwrap_or(high * 10.0))
    };
    let inside = |v: &f64| *v >= from * (1.0 - 1e-9) && *v <= to * (1.0 + 1e-9);
    let decades: Vec<f64> = steps(&[1.0]).filter(inside).collect();
    let spacious: Vec<f64> = steps(&[1.0, 2.0, 5.0]).filter(inside).collect();
    let labelled = if spacious.len() <= room { spacious } else { every(decades.clone(), room) };
    let ticks =
        labelled.into_iter().map(|at| Tick { at, label: with_unit(at, units(unit)) }).collect();
    let minor = match decades.len() {
        few if few <= room => {
            steps(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]).filter(inside).collect()
        }
        _ => decades,
    };
    Ruler { from, to, scale: Scale::Log, ticks, minor }
}

/// Every n-th value, so that no more than `room` are left.
fn every(values: Vec<f64>, room: usize) -> Vec<f64> {
    let step = values.len().div_ceil(room.max(1)).max(1);
    values.into_iter().step_by(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ruler: &Ruler) -> Vec<String> {
        ruler.ticks.iter().map(|tick| tick.label.replace('\u{a0}', " ")).collect()
    }

    #[test]
    fn a_linear_axis_has_round_ticks_in_one_unit() {
        let axis = Axis::linear("", Unit::Time);
        let ruler = Ruler::new(&axis, [0.0, 0.0139].into_iter(), 8, false);
        assert_eq!(labels(&ruler).first().unwrap(), "0 ms");
        assert_eq!(labels(&ruler).last().unwrap(), "14 ms");
        assert_eq!(ruler.place(0.007), Some(0.5));
    }

    #[test]
    fn a_count_has_ticks_at_whole_numbers() {
        let axis = Axis::linear("", Unit::Count);
        assert_eq!(labels(&Ruler::new(&axis, [1.0, 3.0].into_iter(), 6, true)), ["1", "2", "3"]);
        let ruler = Ruler::new(&axis, [1.0, 1000.0].into_iter(), 4, true);
        assert_eq!(labels(&ruler), ["500", "1000"]);
    }

    #[test]
    fn a_log_axis_labels_its_decades() {
        let axis = Axis::log("", Unit::Time);
        let ruler = Ruler::new(&axis, [1e-6, 10.0].into_iter(), 10, true);
        assert_eq!(labels(&ruler)[..4], ["1 µs", "10 µs", "100 µs", "1 ms"]);
        assert_eq!(ruler.place(0.0), Some(0.0));
        assert!((ruler.place(10.0).unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn any_values_give_a_usable_axis() {
        let odd =
            [0.0, -1.0, 1.0, 1e-300, 1e300, f64::NAN, f64::INFINITY, 3.0, 3.0 + 1e-12, 1e14, -1e14];
        for axis in [Axis::linear("", Unit::Number), Axis::log("", Unit::Share)] {
            for a in odd {
                for b in odd {
                    for snug in [false, true] {
                        let ruler = Ruler::new(&axis, [a, b].into_iter(), 8, snug);
                        assert!(ruler.from < ruler.to, "{a} {b}");
                        assert!(
                            (1..40).contains(&ruler.ticks.len()),
                            "{a} {b} {}",
                            ruler.ticks.len()
                        );
                        assert!(odd.iter().all(|v| ruler.place(*v).is_none_or(f64::is_finite)));
                    }
                }
            }
        }
    }

    #[test]
    fn shares_are_told_in_percent() {
        let axis = Axis::log("", Unit::Share);
        let ruler = Ruler::new(&axis, [1e-4, 1.0].into_iter(), 6, true);
        assert_eq!(labels(&ruler), ["0.01 %", "0.1 %", "1 %", "10 %", "100 %"]);
    }
}
