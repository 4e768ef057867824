//! Reports as one HTML file each, which opens offline and loads nothing.

use laxity_answers::verdict::Verdict;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::admission::AdmissionView;
use crate::chart::{Figure, Paper, on_dark_paper, subjects};
use crate::figures::MOST_CLASSES;
use crate::quantity::count;
use crate::visible::visible;
use crate::words;

pub(crate) mod named_figure;

pub use named_figure::NamedFigure;

/// A table of more rows shows the first of them.
const MOST_ROWS: usize = 30;
/// As many.
const ROWS: usize = 20;

const STYLE: &str = include_str!("html/style.css");
const COLOURS: &str = include_str!("html/colours.css");

/// The colours of reports as a style sheet, for pages that have one of their own: variables for
/// paper and text, and of the class `subject-0` of whatever is drawn of a first subject,
/// `subject-1` and so on, `--subject` and `--dash`.
pub fn colours() -> String {
    format!("{COLOURS}{}", subjects())
}

/// Sentences, if there are any.
pub(crate) fn listed(sentences: &[String]) -> Markup {
    html! { @if !sentences.is_empty() { ul { @for sentence in sentences { li { (sentence) } } } } }
}

pub(crate) fn page(title: &str, content: &Markup) -> String {
    styled_page(title, "", content)
}

/// A page with rules of its own for what only it has.
pub(crate) fn styled_page(title: &str, style: &str, content: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – Laxity" }
                style { (PreEscaped(COLOURS)) (PreEscaped(STYLE)) (PreEscaped(on_dark_paper())) (PreEscaped(highlights())) (PreEscaped(style)) }
            }
            body { main { h1 { (title) } (content) } }
        }
    };
    visible(&page.into_string()).into_owned()
}

/// Pointing at a name in a legend dims every other line of the figure.
fn highlights() -> String {
    let rule = |at| {
        format!("svg:has(.key.subject-{at}:hover) .series:not(.subject-{at}){{opacity:.12}}\n")
    };
    (0..MOST_CLASSES).map(rule).collect()
}

pub(crate) fn facts(facts: &[(&'static str, String)]) -> Markup {
    html! {
        dl.facts { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } }
    }
}

/// A table of cells that are written already; those behind the column of this place are numbers. Of
/// many rows the first are shown, and the others when they are asked for.
pub(crate) fn grid(header: &[String], rows: &[Vec<String>], words: usize) -> Markup {
    let (shown, folded) = rows.split_at(if rows.len() > MOST_ROWS { ROWS } else { rows.len() });
    let table = |rows: &[Vec<String>]| {
        html! {
            div.wide { table {
                thead { tr { @for (at, head) in header.iter().enumerate() { th.number[at > words] { (head) } } } }
                tbody { @for row in rows { tr {
                    @for (at, cell) in row.iter().enumerate() { td.number[at > words] { (cell) } }
                } } }
            } }
        }
    };
    html! {
        (table(shown))
        @if !folded.is_empty() {
            details { summary { (count(folded.len() as u64)) " more rows" } (table(folded)) }
        }
    }
}

/// What came of the promises of one run.
pub(crate) fn verdict_box(verdict: &Verdict) -> Markup {
    let is_spotless = verdict.admitted != Some(false) && verdict.broken.is_empty();
    let lines: Vec<String> = verdict.broken.iter().map(words::broken_line).collect();
    said(verdict.kept, is_spotless && verdict.promised, words::headline(verdict).as_deref(), &lines)
}

/// Whether a plan is admitted, and why.
pub(crate) fn admitted(admitted: Option<bool>, reasons: &str) -> Markup {
    let answer = words::answer(admitted, reasons);
    said(admitted != Some(false), admitted == Some(true), Some(&answer), &[])
}

/// Whether all was kept, and whether that was something, in words.
pub(crate) fn said(
    kept: bool,
    is_praised: bool,
    headline: Option<&str>,
    lines: &[String],
) -> Markup {
    let (class, mark) = match (kept, is_praised) {
        (true, true) => ("verdict kept", "✓ "),
        (true, false) => ("verdict", ""),
        (false, _) => ("verdict broken", "✗ "),
    };
    html! {
        div class=(class) {
            @if let Some(headline) = headline { p { (mark) (headline) } }
            (listed(lines))
        }
    }
}

/// What came of the promises of each scheduler of a comparison.
pub(crate) fn promises(runs: &[(&str, &Verdict)]) -> Markup {
    html! {
        section {
            h2 { "Promises" }
            @for (scheduler, verdict) in runs {
                h3 { (scheduler) }
                (verdict_box(verdict))
            }
            @if let Some(note) = words::excused(runs) { p.note { (note) } }
        }
    }
}

pub(crate) fn admission_section(admission: &AdmissionView) -> Markup {
    html! {
        section {
            h2 { "Admission" }
            p { (words::answer(admission.admitted, &admission.statement)) }
            (named(&admission.details))
            (listed(&admission.remarks))
        }
    }
}

/// Values with their names, if there are any.
pub(crate) fn named(values: &[(String, String)]) -> Markup {
    html! {
        @if !values.is_empty() {
            div.wide { table { tbody {
                @for (name, value) in values { tr { th scope="row" { (name) } td { (value) } } }
            } } }
        }
    }
}

/// A figure laid out for a page and for a phone; the style sheet shows the one that fits.
pub(crate) fn figure(drawn: &Figure, caption: &str) -> Markup {
    html! {
        figure {
            @for (paper, class) in [(Paper::Wide, "wide on-page"), (Paper::Narrow, "wide on-phone")] {
                div class=(class) { (PreEscaped(drawn.on(paper))) }
            }
            figcaption { (caption) }
        }
    }
}

pub(crate) const THROUGHPUT_CAPTION: &str = "How fast each class was sent, averaged over short intervals. \
    The dashed line is all that the link can carry.";

pub(crate) fn exceedance_caption(promised: bool, classes: usize) -> String {
    let promises = if promised {
        " A dotted line is the delay that the admission test proves for the class of its colour, a \
         dashed line the deadline: the curve has to end to the left of both."
    } else {
        ""
    };
    format!(
        "For each delay, the share of a class's packets that were delayed for longer: where a curve \
         crosses 1 % lies the 99th percentile, where it falls off is the largest delay. Curves \
         further left are better.{promises} Point at a name to single its curve out.{}",
        omission(classes)
    )
}

pub(crate) fn compared_caption(classes: usize) -> String {
    format!(
        "For each delay, the share of a class's packets that were delayed for longer under each \
         scheduler. Curves further left are better. All panels have the same axes.{}",
        omission(classes)
    )
}

pub(crate) fn omission(classes: usize) -> String {
    match classes {
        all if all > MOST_CLASSES => format!(" Shown are {MOST_CLASSES} of {all} classes."),
        _ => String::new(),
    }
}
