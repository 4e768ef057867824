//! Charts as SVG: one description, one renderer, for HTML and for figure files alike.
//!
//! A chart's text and grid take the colour of the text around it, so that a page in dark colours
//! needs no second rendering; in a file of its own it stands on white. What is scaled down to the
//! width of a phone cannot be read, so that a figure is laid out again on [narrow](Paper::Narrow)
//! paper.

mod bars;
mod description;
mod palette;
mod path;
mod ruler;
mod svg;

pub use crate::format::Unit;
pub use bars::{Bar, Bars, Segment};
pub use description::{Along, Axis, Chart, Dash, Mark, Marker, Paper, Scale, Series, Style};
pub(crate) use palette::{HUES, on_dark_paper, subjects};
pub(crate) use svg::{Sheet, line as stroke, swatch, text_width};

impl Chart {
    /// The chart as an SVG document that scales to the width it is given.
    pub fn svg(&self) -> String {
        svg::single(self, Paper::Wide)
    }
}

/// Several small charts in columns under one title and one legend, as an SVG document.
pub fn panels(title: &str, charts: &[Chart], columns: usize) -> String {
    svg::panels(title, charts, columns, Paper::Wide)
}

/// What can be drawn on any paper.
pub struct Figure<'a>(Box<dyn Fn(Paper) -> String + 'a>);

impl<'a> Figure<'a> {
    /// What this draws.
    pub(crate) fn new(draw: impl Fn(Paper) -> String + 'a) -> Self {
        Figure(Box::new(draw))
    }

    /// Several small charts in columns under one title and one legend.
    pub fn panels(title: &str, charts: Vec<Chart>, columns: usize) -> Figure<'static> {
        let title = title.to_owned();
        Figure::new(move |paper| svg::panels(&title, &charts, columns, paper))
    }

    /// As an SVG document on wide paper.
    pub fn svg(&self) -> String {
        self.on(Paper::Wide)
    }

    /// As an SVG document.
    pub(crate) fn on(&self, paper: Paper) -> String {
        (self.0)(paper)
    }
}

impl From<Chart> for Figure<'static> {
    fn from(chart: Chart) -> Self {
        Figure::new(move |paper| svg::single(&chart, paper))
    }
}
