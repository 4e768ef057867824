//! From values to places along an axis, and the ticks in between.

use super::description::{Axis, Scale};
use crate::format::Unit;
use crate::quantity::{self, Units, joined, unit_for, with_unit};

/// Beyond these, values are taken for broken and left out.
const LARGEST: f64 = 1e15;
/// More decades than anyone measures; smaller values lie on the axis' lower end.
const MOST_DECADES: i32 = 12;
/// A logarithmic axis whose ends are less than this ratio apart has ticks at even steps, and so has
/// one with too few ticks otherwise.
const EVEN_BELOW: f64 = 4.0;
/// More than a double tells.
const MOST_DECIMALS: usize = 18;
/// An axis with fewer labels does not say how it goes on.
const FEWEST_TICKS: usize = 3;

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
    pub(super) fn new(
        axis: &Axis,
        values: impl Iterator<Item = f64>,
        room: usize,
        snug: bool,
    ) -> Ruler {
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
    pub(super) fn place(&self, value: f64) -> Option<f64> {
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
        Unit::Count => &[("", 1.0)],
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
    let (from, to, ticks) = even(low, high, unit, room, snug || given);
    Ruler { from, to, scale: Scale::Linear, ticks, minor: vec![] }
}

/// Ticks at even steps, and the range that they part: the one asked for or, unless it is `exact`,
/// out to the next ticks.
fn even(low: f64, high: f64, unit: Unit, room: usize, exact: bool) -> (f64, f64, Vec<Tick>) {
    let (name, size) = unit_for(high.abs().max(low.abs()), units(unit));
    let (low, high) = (low / size, high / size);
    let ends = |step: f64| {
        if exact { (low, high) } else { ((low / step).floor() * step, (high / step).ceil() * step) }
    };
    let steps = round_steps(low, high, unit);
    let step = chosen(&steps, room, |step| multiples(*step, ends(*step)).count());
    let (from, to) = ends(step);
    let decimals = decimals(step);
    let label = |value: f64| joined(&format!("{value:.decimals$}"), name);
    let ticks =
        multiples(step, (from, to)).map(|value| Tick { at: value * size, label: label(value) });
    (from * size, to * size, ticks.collect())
}

/// Of candidates that label more and more sparsely the first with labels enough for `room`; with no
/// more than two of these, the one before.
fn chosen<T: Clone>(candidates: &[T], room: usize, labels: impl Fn(&T) -> usize) -> T {
    let room = room.max(FEWEST_TICKS);
    let fits = candidates.iter().position(|candidate| labels(candidate) <= room);
    let at = fits.unwrap_or(candidates.len() - 1);
    let tells = |at: &usize| labels(&candidates[*at]) >= FEWEST_TICKS;
    candidates[(0..=at).rev().find(tells).unwrap_or(0)].clone()
}

/// Steps of 1, 2, 2.5 or 5 times a power of ten that part a range, the finest first. What is
/// counted has whole steps.
fn round_steps(low: f64, high: f64, unit: Unit) -> Vec<f64> {
    let most = (high - low).log10().ceil() as i32;
    let steps = (most - 3..=most).flat_map(|power| {
        let size = 10f64.powi(power);
        [1.0, 2.0, 2.5, 5.0].map(|step| step * size)
    });
    let is_whole = |step: &f64| unit != Unit::Count || step.fract() == 0.0;
    let steps: Vec<f64> = steps.filter(is_whole).collect();
    if steps.is_empty() { vec![1.0] } else { steps }
}

/// The multiples of a step within a range.
fn multiples(step: f64, (from, to): (f64, f64)) -> impl Iterator<Item = f64> {
    let first = (from / step - 1e-6).ceil() as i64;
    let last = (to / step + 1e-6).floor() as i64;
    (first..=last).map(move |n| n as f64 * step)
}

/// How many decimals tell multiples of a step apart.
fn decimals(step: f64) -> usize {
    let are_distinct = |decimals: &usize| {
        let scaled = step * 10f64.powi(*decimals as i32);
        (scaled - scaled.round()).abs() < 1e-6 * scaled
    };
    (0..MOST_DECIMALS).find(are_distinct).unwrap_or(MOST_DECIMALS)
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
    let parted: [&[f64]; 3] = [&[1.0, 2.0, 3.0, 5.0, 7.0], &[1.0, 2.0, 5.0], &[1.0, 3.0]];
    let few = steps(parted[0]).filter(inside).count() < FEWEST_TICKS;
    let ticks = if few || to < from * EVEN_BELOW {
        even(from, to, unit, room, true).2
    } else {
        let mut candidates: Vec<Vec<f64>> =
            parted.into_iter().map(|multiples| steps(multiples).filter(inside).collect()).collect();
        let sparse = |n| decades.iter().copied().step_by(n).collect();
        candidates.extend((1..=decades.len()).map(sparse));
        let ticks = chosen(&candidates, room, Vec::len).into_iter();
        ticks.map(|at| Tick { at, label: with_unit(at, units(unit)) }).collect()
    };
    let minor = match decades.len() {
        few if few <= room => {
            steps(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]).filter(inside).collect()
        }
        _ => decades,
    };
    Ruler { from, to, scale: Scale::Log, ticks, minor }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

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
        assert_eq!(labels(&ruler), ["250", "500", "750", "1000"]);
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

    proptest! {
        /// From within a nanosecond to years, in a small chart and in a large one.
        #[test]
        fn an_axis_has_three_ticks_at_least_and_no_label_twice(
            low in -12.0f64..6.0, ratio in 1e-6f64..9.0, room in 1usize..12, log: bool, given: bool, snug: bool,
            unit in select(vec![Unit::Number, Unit::Time, Unit::Share, Unit::Rate, Unit::Size]),
        ) {
            let (low, high) = (10f64.powf(low), 10f64.powf(low + ratio));
            let scale = if log { Scale::Log } else { Scale::Linear };
            let range = given.then_some((low, high));
            let axis = Axis { scale, range, ..Axis::linear("", unit) };
            let ruler = Ruler::new(&axis, [low, high].into_iter(), room, snug);
            let ticks = ruler.ticks.len();
            prop_assert!(ticks >= 3 && ticks <= room.max(6), "{:?}", labels(&ruler));
            prop_assert!(ruler.ticks.is_sorted_by(|a, b| a.at < b.at && a.label != b.label), "{:?}", labels(&ruler));
            let places = ruler.ticks.iter().map(|tick| ruler.place(tick.at).unwrap());
            for place in places {
                prop_assert!((-1e-6..1.0 + 1e-6).contains(&place), "{place}");
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
