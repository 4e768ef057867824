//! The figures of a report, by their names.

use maud::{Markup, html};

use super::figure;
use crate::chart::Figure;

/// A figure of a report, with what to see in it.
pub struct NamedFigure<'a> {
    /// What it is called, in small letters and hyphens.
    pub name: &'static str,
    /// The drawing.
    pub figure: Figure<'a>,
    /// What to see in it.
    pub caption: String,
}

impl<'a> NamedFigure<'a> {
    pub(crate) fn new(
        name: &'static str,
        figure: Figure<'a>,
        caption: impl Into<String>,
    ) -> NamedFigure<'a> {
        NamedFigure { name, figure, caption: caption.into() }
    }
}

/// The figures of a report on a page.
pub(crate) fn section(drawn: &[NamedFigure]) -> Markup {
    html! {
        section {
            h2 { "Figures" }
            @for one in drawn { (figure(&one.figure, &one.caption)) }
        }
    }
}
