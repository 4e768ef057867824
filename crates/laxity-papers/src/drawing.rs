//! Charts of the papers' figures, put together from their parts.

use laxity::units::Nanos;
use laxity_report::chart::{Along, Axis, Chart, Dash, Mark, Marker, Series, Style, Unit};

/// A chart without markers.
pub(crate) fn chart(
    title: impl Into<String>,
    x: Axis,
    y: Axis,
    series: impl IntoIterator<Item = Series>,
) -> Chart {
    let series = series.into_iter().collect();
    Chart { title: title.into(), x, y, series, markers: Vec::new() }
}

/// A named set of points.
pub(crate) fn series(
    name: impl Into<String>,
    mark: Mark,
    style: Style,
    points: impl IntoIterator<Item = (f64, f64)>,
) -> Series {
    Series { name: name.into(), mark, style, points: points.into_iter().collect() }
}

/// The axis, from one value to another.
pub(crate) fn within(range: (f64, f64), axis: Axis) -> Axis {
    Axis { range: Some(range), ..axis }
}

/// An axis of time, from one moment to another.
pub(crate) fn time(label: &str, from: Nanos, to: Nanos) -> Axis {
    within((from.as_secs_f64(), to.as_secs_f64()), Axis::linear(label, Unit::Time))
}

/// A faint vertical line at a moment.
pub(crate) fn moment(at: Nanos, label: &str, meaning: &str) -> Marker {
    let style = Style { faint: true, ..Style::default().dashed(Dash::Dotted) };
    Marker { style, ..limit(Along::Y, at.as_secs_f64(), label, meaning) }
}

/// A dashed line at a value that is not to be passed.
pub(crate) fn limit(along: Along, at: f64, label: &str, meaning: &str) -> Marker {
    let style = Style::default().dashed(Dash::Dashed);
    Marker { along, at, label: label.into(), meaning: meaning.into(), style }
}
