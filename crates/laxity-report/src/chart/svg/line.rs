//! Lines and dots in their styles.

use maud::{Markup, html};

use crate::chart::description::{Mark, Style};

/// The length of path data, in bytes, beyond which large dots would hide each other.
const CROWD: usize = 3000;

/// A line in its style.
pub(crate) fn line(data: &str, style: Style) -> Markup {
    stroke(data, Mark::Line, style)
}

/// A path in its style.
pub(super) fn stroke(data: &str, mark: Mark, style: Style) -> Markup {
    let width = match mark {
        Mark::Points if data.len() > CROWD => "4.5",
        Mark::Points => "7",
        Mark::Sticks => "0.8",
        Mark::Line | Mark::Beads | Mark::Step if style.faint => "1.2",
        Mark::Line | Mark::Beads | Mark::Step => "1.8",
    };
    let dashes = style.dash.pattern().filter(|_| mark != Mark::Points);
    let opacity = (style.faint || mark == Mark::Sticks).then_some("0.6");
    html! {
        path class=[style.css_class()] d=(data) fill="none" color=[style.colour()]
            stroke="currentColor" stroke-width=(width) stroke-linecap="round"
            stroke-linejoin="round" stroke-dasharray=[dashes] stroke-opacity=[opacity] {}
    }
}

/// A short line in a style, for the tables beside figures.
pub(crate) fn swatch(style: Style) -> Markup {
    html! {
        svg.swatch width="28" height="10" viewBox="0 0 28 10" aria-hidden="true" {
            (stroke("M2 5H26", Mark::Line, style))
        }
    }
}

/// The name that a subject's lines and legend entries share, for the page to highlight.
pub(in crate::chart) fn group(style: Style) -> String {
    style.subject.map(|subject| format!("subject-{subject}")).unwrap_or_default()
}
