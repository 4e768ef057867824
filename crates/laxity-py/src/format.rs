//! How figures are shown: their names, numbers and colours, for tables and charts.

use laxity_report::chart::{Dash, Style};
use laxity_report::format::Format;
use laxity_report::quantity::{NOTHING, TimeUnit};
use pyo3::prelude::*;

/// A figure's name as the head of a column, with its unit.
#[pyfunction]
pub(crate) fn label(figure: &str) -> String {
    Format::new(figure).label(figure, TimeUnit::MILLIS)
}

/// A figure's name in words.
#[pyfunction]
pub(crate) fn plain(figure: &str) -> String {
    Format::plain(figure)
}

/// The unit of a figure in tables, and the factor from a value to it.
#[pyfunction]
pub(crate) fn unit(figure: &str) -> (&'static str, f64) {
    Format::new(figure).in_columns(TimeUnit::MILLIS)
}

/// A value of a figure as a cell of a table, without its unit.
#[pyfunction]
pub(crate) fn cell(figure: &str, value: Option<f64>) -> String {
    value.map_or(NOTHING.to_owned(), |value| Format::new(figure).text(value, TimeUnit::MILLIS))
}

/// The colours and dashes of the first `subjects` subjects on white paper.
#[pyfunction]
pub(crate) fn styles(subjects: usize) -> Vec<(&'static str, Vec<f64>)> {
    let style = |subject| {
        let style = Style::new(subject);
        (style.colour().unwrap_or("#000"), lengths(style.dash))
    };
    (0..subjects).map(style).collect()
}

/// The dashes of a deadline and of a bound.
#[pyfunction]
pub(crate) fn promises() -> (Vec<f64>, Vec<f64>) {
    (lengths(Dash::Dashed), lengths(Dash::Dotted))
}

/// The lengths of strokes and gaps in turn.
fn lengths(dash: Dash) -> Vec<f64> {
    let pattern = dash.pattern().unwrap_or_default();
    pattern.split_whitespace().filter_map(|length| length.parse().ok()).collect()
}
