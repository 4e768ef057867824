//! Curves of a proof, drawn.

use laxity::curve::{Curve, Exact, exact_nanos};
use laxity::units::Nanos;
use num_traits::ToPrimitive;

use crate::chart::{self, Axis, Chart, Figure, Mark, Style, Unit};

/// Named curves over time, such as a residual capacity and its approximations.
#[derive(Clone, Debug, Default)]
pub struct CurveFigure {
    /// What they show.
    pub title: String,
    /// What to see in them.
    pub caption: String,
    /// The curves.
    pub curves: Vec<NamedCurve>,
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
        NamedCurve { name: name.to_owned(), points: corners(curve, until) }
    }
}

/// A curve's corners, in ms and kB, up to and with `until`.
fn corners(curve: &Curve, until: Nanos) -> Vec<(f64, f64)> {
    let until = exact_nanos(until);
    let point = |time: &Exact, value: Exact| {
        (time.to_f64().unwrap_or(f64::NAN) / 1e6, value.to_f64().unwrap_or(f64::NAN) / 1e3)
    };
    let mut points = Vec::new();
    for (index, piece) in curve.pieces().iter().enumerate() {
        if piece.start > until {
            break;
        }
        if index > 0 {
            points.push(point(&piece.start, curve.value_before(&piece.start)));
        }
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
        markers: Vec::new(),
    };
    chart.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_curve_is_drawn() {
        let svg = curves(&CurveFigure::default()).svg();
        assert!(svg.contains("no data") && !svg.contains("NaN"));
    }
}
