//! Curves of a proof, drawn.

use laxity::admit::Interval;
use laxity::curve::{Curve, Exact, exact_nanos};
use laxity::units::Nanos;
use num_traits::ToPrimitive;

use crate::chart::{self, Along, Axis, Chart, Dash, Figure, Mark, Marker, Style, Unit};
use crate::html::NamedFigure;
use crate::quantity;

/// Named curves over time, such as a residual capacity and its approximations.
#[derive(Clone, Debug, Default)]
pub struct CurveFigure {
    /// What the figure is called, in small letters and hyphens.
    pub name: &'static str,
    /// What they show.
    pub title: String,
    /// What to see in them.
    pub caption: String,
    /// The curves.
    pub curves: Vec<NamedCurve>,
    /// The interval that binds, which is marked.
    pub binding: Option<Interval>,
}

/// A polyline with its name.
#[derive(Clone, Debug, Default)]
pub struct NamedCurve {
    /// Its name.
    pub name: String,
    /// Its corners: time in ms, work in kB.
    pub points: Vec<(f64, f64)>,
}

impl NamedCurve {
    /// A curve up to an interval of this length.
    pub(super) fn new(name: &str, curve: &Curve, until: Nanos) -> NamedCurve {
        NamedCurve::within(name, curve, Nanos::ZERO, until)
    }

    /// A curve from an interval of one length up to that of another.
    pub(super) fn within(name: &str, curve: &Curve, from: Nanos, until: Nanos) -> NamedCurve {
        NamedCurve { name: name.to_owned(), points: corners(curve, from, until) }
    }
}

/// A curve's corners, in ms and kB, from `from` to `until`, both included.
fn corners(curve: &Curve, from: Nanos, until: Nanos) -> Vec<(f64, f64)> {
    let [from, until] = [from, until].map(exact_nanos);
    let point = |time: &Exact, value: Exact| {
        (time.to_f64().unwrap_or(f64::NAN) / 1e6, value.to_f64().unwrap_or(f64::NAN) / 1e3)
    };
    let mut points = vec![point(&from, curve.value(&from))];
    let within = |start: &Exact| *start > from && *start <= until;
    for piece in curve.pieces().iter().filter(|piece| within(&piece.start)) {
        points.push(point(&piece.start, curve.value_before(&piece.start)));
        points.push(point(&piece.start, piece.value.clone()));
    }
    points.push(point(&until, curve.value(&until)));
    points
}

/// Curves of work over time.
pub fn curves(figure: &CurveFigure) -> Figure<'static> {
    let line = |(at, curve): (usize, &NamedCurve)| {
        let points = curve.points.iter().map(|(ms, kilobytes)| (ms / 1e3, kilobytes * 1e3));
        chart::Series::new(&curve.name, Mark::Line, Style::new(at), points.collect())
    };
    let chart = Chart {
        title: figure.title.clone(),
        x: Axis::linear("Length of the interval", Unit::Time),
        y: Axis::linear("Work", Unit::Size),
        series: figure.curves.iter().enumerate().map(line).collect(),
        markers: figure.binding.as_ref().map(binding_line).into_iter().collect(),
    };
    chart.into()
}

impl CurveFigure {
    /// The figure as one of a report.
    pub fn drawn(&self) -> NamedFigure<'static> {
        NamedFigure::new(self.name, curves(self), &self.caption)
    }
}

/// The line at the length of an interval that binds, with how much of the service is left.
fn binding_line(interval: &Interval) -> Marker {
    let Interval { length, .. } = *interval;
    let label = format!("binding: {}, {}", quantity::time(length.0 as f64), left(interval));
    let style = Style::default().dashed(Dash::Dashed);
    Marker::new(Along::Y, length.0 as f64 * 1e-9, "binding interval", style).labelled(label)
}

/// How much of the service of an interval is left, or missing.
fn left(interval: &Interval) -> String {
    let [capacity, demand] = [interval.capacity, interval.demand].map(|bytes| bytes.0 as f64);
    let share = |bytes: f64| match capacity {
        0.0 => quantity::size(bytes),
        _ => quantity::percent(bytes / capacity),
    };
    if demand > capacity {
        format!("{} too much", share(demand - capacity))
    } else {
        format!("{} left", share(capacity - demand))
    }
}

#[cfg(test)]
mod tests {
    use laxity::units::Bytes;

    use super::*;

    #[test]
    fn no_curve_is_drawn() {
        let svg = curves(&CurveFigure::default()).svg();
        assert!(svg.contains("no data") && !svg.contains("NaN"));
    }

    #[test]
    fn a_binding_interval_says_what_is_left_or_missing() {
        let said = |capacity, demand| {
            let interval = Interval { length: Nanos(12_400_000), capacity, demand };
            binding_line(&interval).label.replace('\u{a0}', " ")
        };
        let said = |[capacity, demand]: [u64; 2]| said(Bytes(capacity), Bytes(demand));
        assert_eq!(said([1000, 970]), "binding: 12.4 ms, 3 % left");
        assert_eq!(said([1000, 1000]), "binding: 12.4 ms, 0 % left");
        assert_eq!(said([1000, 1250]), "binding: 12.4 ms, 25 % too much");
        assert_eq!(said([0, 1500]), "binding: 12.4 ms, 1.5 kB too much");
    }

    /// A curve that jumps has two corners there, and what lies outside of the range has none.
    #[test]
    fn corners_are_those_within_the_range() {
        let curve = Curve::staircase(Bytes(1000), Nanos(2_000_000), 4);
        let corners = |from, until| corners(&curve, Nanos(from), Nanos(until));
        let expected = [(1.0, 1.0), (2.0, 1.0), (2.0, 2.0), (3.0, 2.0)];
        assert_eq!(corners(1_000_000, 3_000_000), expected);
        assert_eq!(corners(2_000_000, 2_000_000), [(2.0, 2.0), (2.0, 2.0)]);
    }
}
