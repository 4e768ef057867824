//! What a search tried: a figure of each goal over each key.

use crate::chart::{Along, Axis, Chart, Dash, Figure, Mark, Marker, Series, Style, Unit};
use crate::format::Format;

/// A goal over a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The key.
    pub key: String,
    /// What its values are, in the unit of a chart's axis.
    pub unit: Unit,
    /// Whether they are sought by their logarithms.
    pub is_log: bool,
    /// What was tried with which all that has to hold does: the key's value, and the goal's worst
    /// figure.
    pub held: Vec<(f64, f64)>,
    /// What else was tried.
    pub failed: Vec<(f64, f64)>,
    /// What was found of the key.
    pub found: Option<f64>,
}

/// The worst figure of all seeds, tried value by value, and the goal's limit; a panel a key.
pub fn figure(title: &str, figure: &str, limit: f64, panels: &[Panel]) -> Figure<'static> {
    let (unit, scale) = Format::new(figure).unit();
    let scaled = |points: &[(f64, f64)]| points.iter().map(|&(x, y)| (x, y * scale)).collect();
    let chart = |panel: &Panel| {
        let series = |name, subject, points| {
            Series::new(name, Mark::Points, Style::new(subject), scaled(points))
        };
        let marker = |along, at, meaning, dash| {
            Marker::new(along, at, meaning, Style::default().dashed(dash))
        };
        let asked = marker(Along::X, limit * scale, "goal", Dash::Dashed);
        let found = panel.found.map(|at| marker(Along::Y, at, "found", Dash::Dotted));
        let values = panel.held.iter().chain(&panel.failed).map(|(_, value)| *value);
        let values = values.chain([limit]).map(|value| value * scale);
        Chart {
            title: String::new(),
            x: Axis::log_if(panel.is_log, &panel.key, panel.unit),
            y: Axis::fitting(values, "", unit),
            series: vec![series("all holds", 0, &panel.held), series("not", 1, &panel.failed)],
            markers: std::iter::once(asked).chain(found).collect(),
        }
    };
    Figure::panels(title, panels.iter().map(chart).collect(), 2)
}

/// The caption of such a figure.
pub const CAPTION: &str = "Every point is a plan that was run: the worst figure of all seeds.";
