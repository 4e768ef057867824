//! A run as text, as figures and as a page.

use laxity_answers::verdict::JudgedRun;
use laxity_plan::tdp::NetworkAnalysis;
use laxity_sim::series::Series;
use laxity_sim::summary::{ClassSummary, HopSummary, NetworkSummary, Summary};
use maud::{Markup, html};

use crate::admission::AdmissionView;
use crate::admission::curves::CurveFigure;
use crate::explanation::ExplanationView;
use crate::html::named_figure::{NamedFigure, section};
use crate::html::{
    THROUGHPUT_CAPTION, admission_section, exceedance_caption, facts, listed, omission,
    styled_page, verdict_box,
};
use crate::network;
use crate::quantity::{count, percent, rate, size, time};
use crate::visible::line;
use crate::{autorate, classes, explanation, fate, figures, service, words};

/// A run to be reported.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// What was measured, and what came of the promises.
    pub judged: &'a JudgedRun,
    /// What the admission test said, if it was asked.
    pub admission: Option<AdmissionView>,
    /// The curves that the test compared.
    pub curves: Vec<CurveFigure>,
    /// The network, if the plan is one.
    pub network: Option<&'a NetworkAnalysis<'a>>,
    /// Why packets waited, if that was recorded.
    pub explanation: Option<ExplanationView<'a>>,
    /// Remarks beside the figures, a sentence each.
    pub remarks: Vec<String>,
}

/// A run for a terminal: tables, verdict, and why packets were dropped.
pub fn text(JudgedRun { summary, verdict }: &JudgedRun) -> String {
    // The tables are nearly all of the text, and may be long: they are not copied.
    let (head, mut text) = match &summary.network {
        Some(network) => (network_head(summary, network), network::tables(summary, network)),
        None => summary.hops.first().map_or((String::new(), String::new()), |link| {
            (link_head(summary, link), classes::text(link))
        }),
    };
    text += &autorate::text(summary);
    text.insert_str(0, &head);
    text += "\n\n";
    text.extend(words::lines(verdict).chain(dropped(summary)).map(|line| line + "\n"));
    text
}

fn link_head(summary: &Summary, link: &HopSummary) -> String {
    format!(
        "{}\n{} on {}, {}, seed {}, {} utilized\n\n",
        line(summary.title.as_deref().unwrap_or("Simulation")),
        summary.scheduler,
        rate(link.rate_bps as f64),
        lasted(summary),
        summary.seed,
        percent(link.utilization),
    )
}

/// How long traffic arrived, and how long was measured if that is longer.
fn lasted(summary: &Summary) -> String {
    let traffic = time(summary.traffic_ns as f64);
    let measured = time(summary.duration_ns as f64);
    if traffic == measured {
        format!("{traffic} of traffic")
    } else {
        format!("{traffic} of traffic, measured for {measured}")
    }
}

fn network_head(summary: &Summary, network: &NetworkSummary) -> String {
    format!(
        "{}\n{}, {} simulated, seed {}, {} hops taken\n\n",
        line(summary.title.as_deref().unwrap_or("Network")),
        summary.scheduler,
        time(summary.duration_ns as f64),
        summary.seed,
        count(network.hop_departures),
    )
}

/// Why packets were dropped, a sentence a class; in a network over all outputs.
fn dropped(summary: &Summary) -> Vec<String> {
    match &summary.network {
        Some(network) => network::dropped(summary, network),
        None => {
            let classes = summary.hops.iter().flat_map(|link| &link.classes);
            fate::sentences(classes.filter_map(|class| fate::dropped(&class.name, &class.dropped)))
        }
    }
}

/// A run as an HTML file, with what was recorded over time.
pub fn html(report: &Report<'_>, series: &Series) -> String {
    let Report { judged: JudgedRun { summary, verdict }, admission, .. } = report;
    let fates: Vec<_> = dropped(summary).into_iter().chain(report.remarks.clone()).collect();
    let title = if summary.network.is_some() { "Network" } else { "Simulation" };
    let explanation = report.explanation.as_ref();
    styled_page(
        summary.title.as_deref().unwrap_or(title),
        &explanation.map(|_| explanation::style()).unwrap_or_default(),
        &html! {
            (facts(&run_facts(summary)))
            (verdict_box(verdict))
            @if let Some(admission) = admission { (admission_section(admission)) }
            @match &summary.network {
                Some(network) => (network::sections(summary, network, &listed(&fates))),
                None => @for link in &summary.hops { (link_section(link, &listed(&fates))) },
            }
            (autorate::sections(summary))
            @if let Some(explanation) = explanation { (explanation.sections(&[])) }
            (section(&drawings(report, series)))
        },
    )
}

fn link_section(link: &HopSummary, fates: &Markup) -> Markup {
    let is_promised = |class: &ClassSummary| class.deadline_ns.or(class.bound_ns).is_some();
    html! {
        section {
            @if link.classes.iter().any(is_promised) {
                h2 { "Promised and measured" }
                (classes::promises(link))
            }
            @if link.classes.iter().any(|class| class.windows.is_some()) {
                h2 { "Windows" }
                (classes::windows_page(link))
            }
            h2 { "All classes" }
            (classes::page(link))
            (fates)
        }
    }
}

fn run_facts(summary: &Summary) -> Vec<(&'static str, String)> {
    let mut all = vec![("Scheduler", summary.scheduler.clone())];
    if let Some(link) = summary.link() {
        all.extend(link.scheduler_bytes.map(|bytes| ("Peak memory", size(bytes as f64))));
        all.push(("Utilization", percent(link.utilization)));
    }
    all.extend(traffic_facts(summary));
    if let Some(network) = &summary.network {
        all.push(("Hops taken", count(network.hop_departures)));
    }
    all
}

/// What is known of the traffic, whatever schedules it.
pub(crate) fn traffic_facts(summary: &Summary) -> Vec<(&'static str, String)> {
    let mut all = match summary.link() {
        Some(link) => vec![
            ("Link", rate(link.rate_bps as f64)),
            ("Traffic", time(summary.traffic_ns as f64)),
            ("Measured for", time(summary.duration_ns as f64)),
        ],
        None => vec![("Duration", time(summary.duration_ns as f64))],
    };
    if summary.warm_up_ns > 0 {
        all.push(("Warm-up", time(summary.warm_up_ns as f64)));
    }
    all.push(("Seed", summary.seed.to_string()));
    all.push(("Laxity", summary.version.to_owned()));
    all
}

/// The figures of a run's report, in its order.
pub fn drawings<'a>(report: &Report<'a>, series: &Series) -> Vec<NamedFigure<'a>> {
    let summary = &report.judged.summary;
    let classes = summary.classes();
    let is_promised =
        classes.iter().any(|(_, class)| class.deadline_ns.or(class.bound_ns).is_some());
    let delays = figures::exceedance(summary, series);
    let caption = exceedance_caption(is_promised, classes.len());
    let services = report
        .explanation
        .as_ref()
        .map_or_else(Vec::new, |view| service::figures(view.plan, &view.explanation.services));
    if let Some(network) = &summary.network {
        let topology = report.network.map(network::topology_drawings).unwrap_or_default();
        let measured = network::drawings(summary, network, series);
        let [goodput, flows] = measured;
        let caption =
            format!("From arrival at the first output to arrival at the receiver. {caption}");
        let delays = NamedFigure::new("delays", delays, caption);
        let drawn = topology.into_iter().chain([goodput, delays, flows]).chain(services);
        return drawn.chain(autorate::drawings(summary)).collect();
    }
    let mut drawn = vec![
        NamedFigure::new("delays", delays, caption),
        NamedFigure::new(
            "delays-over-time",
            figures::delay_over_time(summary, series),
            format!("{DELAY_CAPTION}{}", omission(classes.len())),
        ),
    ];
    if let Some(link) = summary.link() {
        let throughput = figures::throughput(summary, link, series);
        drawn.push(NamedFigure::new("throughput", throughput, THROUGHPUT_CAPTION));
    }
    drawn.extend(report.curves.iter().map(CurveFigure::drawn));
    drawn.extend(services);
    drawn.extend(autorate::drawings(summary));
    drawn
}

const DELAY_CAPTION: &str = "From a packet's last bit in to its last bit out, by time of departure: the largest and the \
     mean delay of each short interval. No line is drawn where nothing was sent. All panels \
     have the same axes.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison;
    use crate::testing::sample;

    fn report(summary: &Summary, series: &Series) -> String {
        let judged = sample::judged(summary);
        let report = Report {
            judged: &judged,
            admission: Some(AdmissionView {
                admitted: Some(true),
                statement: "It <fits>.".into(),
                details: vec![],
                remarks: vec!["A <script> is no remark.".into()],
            }),
            curves: Vec::new(),
            network: None,
            explanation: None,
            remarks: vec!["rt-0 <b>broke</b> its arrival curve.".into()],
        };
        html(&report, series)
    }

    #[test]
    fn names_are_escaped_everywhere() {
        let (mut summary, series) = sample::run(1, 1);
        let evil = "</title><script>alert(1)</script>\" onload=\"x";
        summary.title = Some(evil.into());
        summary.scheduler = evil.into();
        summary.hops[0].classes[0].name = evil.into();
        summary.hops[0].classes[0].deadline_misses = 1;
        for text in [
            report(&summary, &series),
            comparison::html(&[sample::judged(&summary)], std::slice::from_ref(&series)),
        ] {
            assert!(!text.contains("<script") && !text.contains("\" onload"));
            assert!(text.contains("&lt;script&gt;"));
        }
    }

    #[test]
    fn why_packets_were_dropped_can_be_read() {
        let (mut summary, series) = sample::run(1, 0);
        summary.hops[0].classes[0].dropped = [("contract", 2), ("limit", 1)].into();
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
        summary.hops[0].classes[1].deadline_misses = 7;
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
            !comparison::html(&[sample::judged(&summary)], std::slice::from_ref(&series))
                .contains("Windows violated")
        );
        summary.hops[0].classes[0].windows = Some(sample::windows(3));
        let text = report(&summary, &series);
        assert!(text.contains("May lose") && text.contains("1/80"));
        assert!(text.contains("3 windows of 19 lost more than tolerated"));
        let text = comparison::html(&[sample::judged(&summary)], std::slice::from_ref(&series));
        assert!(text.contains("Windows violated") && text.contains("Longest run of losses"));
    }

    #[test]
    fn a_run_without_packets_is_a_report_too() {
        let (mut summary, _) = sample::run(1, 1);
        for class in &mut summary.hops[0].classes {
            (class.arrived, class.sent, class.delay_ns) = (0, 0, None);
            class.throughput_bps = f64::NAN;
        }
        let text = report(&summary, &Series::default());
        assert!(!text.contains("NaN") && !text.contains(">inf"));
        comparison::html(&[], &[]);
    }
}
