//! How figures depend on what varies in a study, a panel a class.

use crate::chart::{Axis, Chart, Dash, Figure, Mark, Series, Style, Unit};
use crate::format::Format;

/// A class, and how a figure of it depends on a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The class.
    pub class: String,
    /// A line for each combination of what else varies.
    pub lines: Vec<Line>,
}

/// A figure over a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What else varies, as it is here.
    pub name: String,
    /// The value, the mean over the seeds, and half the width of its confidence interval.
    pub points: Vec<(f64, f64, Option<f64>)>,
}

/// What the panels share.
#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    /// The figure, as summaries call it.
    pub figure: String,
    /// The key of the value.
    pub key: String,
    /// What the value is, in the unit of a chart's axis.
    pub unit: Unit,
    /// Whether they are even by their logarithms.
    pub is_log: bool,
    /// Whether the values are drawn at random, so that lines would join what has nothing to do with
    /// each other.
    pub is_sampled: bool,
}

/// Means over the seeds, each with its confidence interval of 95 %.
pub fn figure(over: &Over, panels: &[Panel]) -> Figure<'static> {
    let shown = Format::new(&over.figure);
    let (unit, scale) = shown.unit();
    let mark = if over.is_sampled { Mark::Points } else { Mark::Beads };
    let chart = |panel: &Panel| {
        let lines = panel.lines.iter().enumerate().flat_map(|(subject, line)| {
            let style = Style::new(subject);
            let means = line.points.iter().map(|&(x, mean, _)| (x, mean * scale)).collect();
            let interval = |&(x, mean, half): &(f64, f64, Option<f64>)| {
                let half = half.unwrap_or(f64::NAN);
                [(x, (mean - half) * scale), (x, (mean + half) * scale), (f64::NAN, f64::NAN)]
            };
            let intervals = line.points.iter().flat_map(interval).collect();
            [
                Series::new(&line.name, mark, style, means),
                Series::new(
                    "",
                    Mark::Line,
                    Style { dash: Dash::Solid, faint: true, ..style },
                    intervals,
                ),
            ]
        });
        let means =
            panel.lines.iter().flat_map(|line| &line.points).map(|(_, mean, _)| mean * scale);
        Chart {
            title: panel.class.clone(),
            x: Axis::log_if(over.is_log, &over.key, over.unit),
            y: Axis::fitting(means, "", unit),
            series: lines.collect(),
            markers: Vec::new(),
        }
    };
    let title = format!("{} over {}", Format::plain(&over.figure), over.key);
    Figure::panels(&title, panels.iter().map(chart).collect(), 2)
}

/// The caption of such a figure.
pub const CAPTION: &str = "Means over the seeds, with their confidence intervals of 95 %.";

/// What the tables of a study mean, below them.
pub const EXPLAINED: &str = "± is half the width of the mean's confidence interval of 95 %, by Student's t. \
    5, 50 and 95 % of the runs do not exceed p5, p50 and p95.";
