//! What a chart shows, however it is drawn.

use super::palette;
use crate::format::Unit;

/// A chart. Points that are not finite are gaps.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
    /// Lines across the whole chart, such as deadlines and bounds.
    pub markers: Vec<Marker>,
}

/// An axis. Ticks carry its unit.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// What it measures; empty where that is said elsewhere.
    pub label: String,
    /// The unit of values: they are given in its base unit and shown in one that fits.
    pub unit: Unit,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// The values it covers; those of series and markers when `None`. A linear vertical axis that
    /// is left to itself includes zero.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// A linear axis that covers its values.
    pub fn linear(label: &str, unit: Unit) -> Axis {
        Axis { label: label.to_owned(), unit, scale: Scale::Linear, range: None }
    }

    /// A logarithmic axis, or else a linear one, that covers its values.
    pub fn log_if(is_log: bool, label: &str, unit: Unit) -> Axis {
        if is_log { Axis::log(label, unit) } else { Axis::linear(label, unit) }
    }

    /// A logarithmic axis for values that are all positive and far apart, so that the small ones
    /// can be told apart, too; else a linear one.
    pub fn fitting(values: impl Iterator<Item = f64>, label: &str, unit: Unit) -> Axis {
        let (least, most) = values.fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
        Axis::log_if(least > 0.0 && most > least * LOG_FROM, label, unit)
    }

    /// The axis from one value to another; without them it covers its values.
    pub fn within(self, range: Option<(f64, f64)>) -> Axis {
        Axis { range, ..self }
    }

    /// A logarithmic axis that covers its positive values.
    pub fn log(label: &str, unit: Unit) -> Axis {
        Axis { scale: Scale::Log, ..Axis::linear(label, unit) }
    }
}

/// Values that are further apart are told by their logarithms.
const LOG_FROM: f64 = 30.0;

/// How values are laid out on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances for equal differences.
    #[default]
    Linear,
    /// Equal distances for equal ratios. What is not positive lies on the axis' lower end.
    Log,
}

/// A named set of points.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// How it is drawn.
    pub mark: Mark,
    /// Its colour and dashes.
    pub style: Style,
    /// Horizontal and vertical values, drawn in this order.
    pub points: Vec<(f64, f64)>,
}

impl Series {
    /// Points that are drawn in this way.
    pub fn new(
        name: impl Into<String>,
        mark: Mark,
        style: Style,
        points: Vec<(f64, f64)>,
    ) -> Series {
        Series { name: name.into(), mark, style, points }
    }
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Joined by straight lines.
    #[default]
    Line,
    /// Dots, joined by straight lines.
    Beads,
    /// A value holds until the next point.
    Step,
    /// Dots.
    Points,
    /// Dots that stand on the horizontal axis.
    Sticks,
}

/// A line across the whole chart.
#[derive(Clone, Debug)]
pub struct Marker {
    /// Vertical at a value of the horizontal axis, or horizontal at one of the vertical axis.
    pub along: Along,
    /// Where it lies.
    pub at: f64,
    /// What is written at its end; may be empty.
    pub label: String,
    /// What its dashes mean, in the legend; may be empty.
    pub meaning: String,
    /// Its colour and dashes.
    pub style: Style,
}

impl Marker {
    /// A line at a value, with nothing written at its end.
    pub fn new(along: Along, at: f64, meaning: &str, style: Style) -> Marker {
        Marker { along, at, label: String::new(), meaning: meaning.to_owned(), style }
    }

    /// The line with a text at its end.
    pub fn labelled(self, label: String) -> Marker {
        Marker { label, ..self }
    }
}

/// The direction of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// Horizontal, at a value of the vertical axis.
    X,
    /// Vertical, at a value of the horizontal axis.
    Y,
}

/// Colour and dashes of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// A number that stands for one class, scheduler or curve throughout a report; the text's
    /// colour when `None`.
    pub subject: Option<usize>,
    /// Its dashes.
    pub dash: Dash,
    /// Whether it stays in the background.
    pub faint: bool,
}

impl Style {
    const DASHES: [Dash; 4] = [Dash::Solid, Dash::Long, Dash::DashDotted, Dash::Short];
    /// As many subjects have styles of their own.
    pub const COUNT: usize = palette::HUES * Style::DASHES.len();

    /// As many subjects are drawn in unbroken lines.
    const SOLID: usize = 4;

    /// The style of a subject: one of seven colours, and dashes that begin with the fifth subject.
    ///
    /// No two of the first [`COUNT`](Style::COUNT) subjects look alike.
    pub fn new(subject: usize) -> Style {
        let (round, hue) = (subject / palette::HUES, subject % palette::HUES);
        let dash = Style::DASHES[(round + usize::from(hue >= Style::SOLID)) % Style::DASHES.len()];
        Style { subject: Some(subject), dash, faint: false }
    }

    /// The same with other dashes.
    pub fn dashed(self, dash: Dash) -> Style {
        Style { dash, ..self }
    }

    /// Its colour on white paper, if it is not the text's.
    pub fn colour(self) -> Option<&'static str> {
        self.subject.map(palette::on_white_paper)
    }

    /// The CSS class by which a page in dark colours knows its colour.
    pub(crate) fn css_class(self) -> Option<String> {
        self.subject.map(palette::css_class)
    }
}

/// Dashes of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dash {
    /// None.
    #[default]
    Solid,
    /// Those of deadlines.
    Dashed,
    /// Dots, those of bounds.
    Dotted,
    /// Long ones.
    Long,
    /// Long ones and dots in turn.
    DashDotted,
    /// Short ones.
    Short,
}

impl Dash {
    /// The lengths of strokes and gaps in turn, as SVG writes them; none of a line without gaps.
    pub fn pattern(self) -> Option<&'static str> {
        match self {
            Dash::Solid => None,
            Dash::Dashed => Some("7 4"),
            Dash::Dotted => Some("1.5 4"),
            Dash::Long => Some("9 5"),
            Dash::DashDotted => Some("8 4 1 4"),
            Dash::Short => Some("4 4"),
        }
    }
}

/// What a figure is drawn on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// As wide as a page, or a file of its own.
    Wide,
    /// As wide as a phone.
    Narrow,
}

impl Paper {
    /// How wide a figure is on it.
    pub(crate) fn width(self) -> f64 {
        match self {
            Paper::Wide => 1040.0,
            Paper::Narrow => 360.0,
        }
    }
}
