//! A network's results as one HTML file.

use laxity_answers::verdict::{Judged, named};
use laxity_plan::tdp::Assigned;
use laxity_sim::network::{EndToEnd, NetworkSummary};
use laxity_sim::series::Series;
use maud::html;

use super::{drawing, figures, tables, time_frames};
use crate::admission::AdmissionView;
use crate::figures::exceedance_compared;
use crate::html::drawn::{Drawn, section};
use crate::html::{
    admission_section, compared_caption, exceedance_caption, facts, figure, listed, page, promises,
    verdict_box,
};
use crate::quantity::{count, time};

/// One run of a network as an HTML file, with what was proved of it.
pub fn html(
    on: &Assigned<'_>,
    admission: &AdmissionView,
    judged: &Judged<NetworkSummary>,
    series: &Series,
) -> String {
    let Judged { summary, verdict } = judged;
    page(
        summary.title.as_deref().unwrap_or("Network"),
        &html! {
            (facts(&run_facts(summary)))
            (verdict_box(verdict))
            (admission_section(admission))
            section {
                h2 { "From end to end" }
                (tables::classes_page(summary))
            }
            @if let Some(tcp) = tables::tcp_page(summary) { section { h2 { "TCP" } (tcp) } }
            @if let Some(completions) = tables::completions_page(summary) {
                section { h2 { "Flow completion times" } (completions) }
            }
            @if time_frames::are_shown(summary) {
                section { h2 { "Frames and losses" } (time_frames::section(summary)) }
            }
            section { h2 { "Hop by hop" } (tables::hops_page(summary)) (listed(&super::dropped(summary))) }
            @if let Some(windows) = tables::windows_page(summary) {
                section { h2 { "Windows" } (windows) }
            }
            (section(&drawings(on, summary, series)))
        },
    )
}

/// The figures of a network's report, in its order.
pub fn drawings<'a>(
    on: &'a Assigned<'_>,
    summary: &NetworkSummary,
    series: &Series,
) -> Vec<Drawn<'a>> {
    let mut drawn = vec![Drawn::new("topology", drawing::topology(on.networked()), TOPOLOGY)];
    if let Some(framing) = &on.framing {
        drawn.push(Drawn::new("frames", drawing::reservations(framing), FRAMES));
    }
    drawn.extend([
        Drawn::new("goodput", figures::goodput(summary, series), GOODPUT),
        Drawn::new("delays", figures::delays(summary, series), delays_caption(summary)),
        Drawn::new("flows", figures::flows(summary), FLOWS),
    ]);
    drawn
}

/// Several runs of the same network as an HTML file.
pub fn compare_html(runs: &[Judged<NetworkSummary>], series: &[Series]) -> String {
    let Some(Judged { summary: first, .. }) = runs.first() else {
        return page("Comparison", &html! {});
    };
    let views: Vec<_> = runs.iter().map(|run| &run.summary).zip(series).collect();
    page(
        first.title.as_deref().unwrap_or("Comparison"),
        &html! {
            (facts(&common_facts(first)))
            p { "The same network under " (runs.len()) " schedulers." }
            (promises(&named(runs)))
            section {
                h2 { "Side by side" }
                (tables::compared(&runs.iter().map(|run| &run.summary).collect::<Vec<_>>()).page())
            }
            section {
                h2 { "Figures" }
                (figure(&exceedance_compared(&figures::compared_classes(&views)), &compared_caption(first.classes.len())))
            }
            @for (Judged { summary, .. }, series) in runs.iter().zip(series) {
                section {
                    h2 { (summary.scheduler) }
                    (tables::classes_page(summary))
                    (figure(&figures::goodput(summary, series), GOODPUT))
                    (figure(&figures::flows(summary), FLOWS))
                }
            }
        },
    )
}

const TOPOLOGY: &str = "The nodes, the links between them, and the classes that take these.";
const FRAMES: &str = "What is reserved of the frames of each output, by class. A full box is what a frame \
    carries.";
const GOODPUT: &str = "How fast each class's receivers got what they had not got before, averaged \
    over short intervals. A class that goes several ways may get more than one link carries.";
const DELAYS: &str = "From arrival at the first output to arrival at the receiver.";
const FLOWS: &str = "The goodput of every flow over the measured time. Level dots are fair.";

fn delays_caption(summary: &NetworkSummary) -> String {
    let is_promised = |class: &EndToEnd| class.bound_ns.or(class.deadline_ns).is_some();
    let promised = summary.classes.iter().any(is_promised);
    format!("{DELAYS} {}", exceedance_caption(promised, summary.classes.len()))
}

fn run_facts(summary: &NetworkSummary) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Scheduler", summary.scheduler.clone())];
    facts.extend(common_facts(summary));
    facts.push(("Hops taken", count(summary.hop_departures)));
    facts
}

fn common_facts(summary: &NetworkSummary) -> Vec<(&'static str, String)> {
    vec![
        ("Duration", time(summary.duration_ns as f64)),
        ("Warm-up", time(summary.warm_up_ns as f64)),
        ("Seed", summary.seed.to_string()),
        ("Laxity", summary.version.to_owned()),
    ]
}
