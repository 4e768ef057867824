//! Reports as one HTML file each, which opens offline and loads nothing.

use laxity_answers::verdict::{Judged, Verdict, named};
use laxity_sim::series::Series;
use laxity_sim::summary::Summary;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::admission::AdmissionView;
use crate::admission::curves::CurveFigure;
use crate::chart::{Figure, Paper, on_dark_paper, subjects};
use crate::classes;
use crate::figures::{self, MOST_CLASSES, PacketDelays};
use crate::gone;
use crate::quantity::{count, percent, rate, size, time};
use crate::visible::visible;
use crate::words;

pub(crate) mod drawn;

pub use drawn::{Drawn, drawings};

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

/// What a report of one run is made from.
#[derive(Clone, Debug)]
pub struct ReportInput<'a> {
    /// What was measured, and what came of the promises.
    pub judged: &'a Judged<Summary>,
    /// The same over time, and the distributions.
    pub series: &'a Series,
    /// What the admission test said, if it was asked.
    pub admission: Option<AdmissionView>,
    /// The curves that the test compared.
    pub curves: Option<CurveFigure>,
    /// What there is to know beside figures, a sentence each.
    pub remarks: Vec<String>,
    /// Delays of single packets, if any were kept.
    pub packets: Vec<PacketDelays>,
}

/// One run as an HTML file.
pub fn html(report: &ReportInput) -> String {
    let ReportInput { judged: Judged { summary, verdict }, admission, .. } = report;
    page(
        summary.title.as_deref().unwrap_or("Simulation"),
        &html! {
            (facts(&run_facts(summary)))
            (verdict_box(verdict))
            @if let Some(admission) = admission { (admission_section(admission)) }
            section {
                @if summary.promises_delay() {
                    h2 { "Promised and measured" }
                    (classes::promises(summary))
                }
                @if summary.classes.iter().any(|class| class.windows.is_some()) {
                    h2 { "Windows" }
                    (classes::windows_page(summary))
                }
                h2 { "All classes" }
                (classes::page(summary))
                (listed(&fates(report)))
            }
            (drawn::section(&drawings(report)))
        },
    )
}

/// What became of packets that were not sent as they came.
fn fates(report: &ReportInput) -> Vec<String> {
    let classes = report.judged.summary.classes.iter();
    let dropped = classes.filter_map(|class| gone::dropped(&class.name, &class.dropped));
    gone::sentences(dropped).into_iter().chain(report.remarks.iter().cloned()).collect()
}

/// Sentences, if there are any.
pub(crate) fn listed(sentences: &[String]) -> Markup {
    html! { @if !sentences.is_empty() { ul { @for sentence in sentences { li { (sentence) } } } } }
}

/// Several runs of the same traffic as an HTML file.
pub fn compare_html(runs: &[Judged<Summary>], series: &[Series]) -> String {
    let Some(Judged { summary: first, .. }) = runs.first() else {
        return page("Comparison", &html! {});
    };
    let summaries: Vec<&Summary> = runs.iter().map(|run| &run.summary).collect();
    let views: Vec<_> = summaries.iter().copied().zip(series).collect();
    page(
        first.title.as_deref().unwrap_or("Comparison"),
        &html! {
            (facts(&traffic_facts(first)))
            p { "The same packets, scheduled in " (runs.len()) " ways." }
            (promises(&named(runs)))
            section {
                h2 { "Side by side" }
                (classes::compared(&summaries).page())
            }
            section {
                h2 { "Figures" }
                (figure(&figures::exceedance_compared(&figures::compared_classes(&views)), &compared_caption(first.classes.len())))
            }
        },
    )
}

pub(crate) fn page(title: &str, content: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – Laxity" }
                style { (PreEscaped(COLOURS)) (PreEscaped(STYLE)) (PreEscaped(on_dark_paper())) (PreEscaped(highlights())) }
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

fn run_facts(summary: &Summary) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Scheduler", summary.scheduler.clone())];
    facts.push(("Peak memory", size(summary.scheduler_bytes as f64)));
    facts.push(("Utilization", percent(summary.link.utilization)));
    facts.extend(traffic_facts(summary));
    facts
}

fn traffic_facts(summary: &Summary) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("Link", rate(summary.link.rate_bps as f64)),
        ("Traffic", time(summary.traffic_ns as f64)),
        ("Measured for", time(summary.duration_ns as f64)),
    ];
    if summary.warm_up_ns > 0 {
        facts.push(("Warm-up", time(summary.warm_up_ns as f64)));
    }
    facts.push(("Seed", summary.seed.to_string()));
    facts.push(("Laxity", summary.version.to_owned()));
    facts
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
            @if !lines.is_empty() { ul { @for line in lines { li { (line) } } } }
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
            @if !admission.details.is_empty() {
                div.wide { table { tbody {
                    @for (name, value) in &admission.details { tr { th scope="row" { (name) } td { (value) } } }
                } } }
            }
            @if !admission.remarks.is_empty() {
                ul { @for remark in &admission.remarks { li { (remark) } } }
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn report(summary: &Summary, series: &Series) -> String {
        html(&ReportInput {
            judged: &sample::judged(summary),
            series,
            admission: Some(AdmissionView {
                admitted: Some(true),
                statement: "It <fits>.".into(),
                details: vec![],
                remarks: vec!["A <script> is no remark.".into()],
            }),
            curves: None,
            remarks: vec!["rt-0 <b>broke</b> its arrival curve.".into()],
            packets: Vec::new(),
        })
    }

    #[test]
    fn names_are_escaped_everywhere() {
        let (mut summary, series) = sample::run(1, 1);
        let evil = "</title><script>alert(1)</script>\" onload=\"x";
        summary.title = Some(evil.into());
        summary.scheduler = evil.into();
        summary.classes[0].name = evil.into();
        summary.classes[0].deadline_misses = 1;
        for text in [
            report(&summary, &series),
            compare_html(&[sample::judged(&summary)], std::slice::from_ref(&series)),
        ] {
            assert!(!text.contains("<script") && !text.contains("\" onload"));
            assert!(text.contains("&lt;script&gt;"));
        }
    }

    #[test]
    fn why_packets_were_dropped_can_be_read() {
        let (mut summary, series) = sample::run(1, 0);
        summary.classes[0].dropped = [("contract", 2), ("limit", 1)].into();
        let text = report(&summary, &series);
        assert!(text.contains("rt-0: 3 packets were dropped: 2 contract, 1 limit."));
        assert!(text.contains("&lt;b&gt;broke&lt;/b&gt; its arrival curve"));
    }

    #[test]
    fn nothing_is_loaded_from_outside() {
        let (summary, series) = sample::run(2, 2);
        let text = report(&summary, &series).replace("http://www.w3.org/2000/svg", "");
        for outside in ["http:", "https:", "url(", "@import", "src=", "<link", "<script"] {
            assert!(!text.contains(outside), "{outside}");
        }
    }

    #[test]
    fn the_verdict_names_who_broke_what() {
        let (mut summary, series) = sample::run(2, 1);
        assert!(report(&summary, &series).contains("Every promise was kept"));
        summary.classes[1].deadline_misses = 7;
        let text = report(&summary, &series);
        assert!(text.contains("rt-1: 7 packets missed the deadline"));
        let (without, series) = sample::run(0, 1);
        assert!(report(&without, &series).contains("No class was promised"));
    }

    #[test]
    fn windows_are_shown_where_losses_are_tolerated() {
        let (mut summary, series) = sample::run(1, 1);
        assert!(!report(&summary, &series).contains("May lose"));
        assert!(
            !compare_html(&[sample::judged(&summary)], std::slice::from_ref(&series))
                .contains("Windows violated")
        );
        summary.classes[0].windows = Some(sample::windows(3));
        let text = report(&summary, &series);
        assert!(text.contains("May lose") && text.contains("1/80"));
        assert!(text.contains("3 windows of 19 lost more than tolerated"));
        let text = compare_html(&[sample::judged(&summary)], std::slice::from_ref(&series));
        assert!(text.contains("Windows violated") && text.contains("Longest run of losses"));
    }

    #[test]
    fn a_run_without_packets_is_a_report_too() {
        let (mut summary, _) = sample::run(1, 1);
        for class in &mut summary.classes {
            (class.arrived, class.sent, class.delay_ns) = (0, 0, None);
            class.throughput_bps = f64::NAN;
        }
        let text = report(&summary, &Series::default());
        assert!(!text.contains("NaN") && !text.contains(">inf"));
        compare_html(&[], &[]);
    }
}
