//! A network's results on pages.

use laxity_plan::tdp::NetworkAnalysis;
use laxity_sim::series::Series;
use laxity_sim::summary::{NetworkSummary, Summary};
use maud::{Markup, html};

use super::{drawing, figures, tables, time_frames};
use crate::html::figure;
use crate::html::named_figure::NamedFigure;

/// The tables of a run, with what became of packets that were dropped below that of hops.
pub(crate) fn sections(summary: &Summary, network: &NetworkSummary, fates: &Markup) -> Markup {
    html! {
        section {
            h2 { "From end to end" }
            (tables::classes_page(network))
        }
        @if let Some(tcp) = tables::tcp_page(network) { section { h2 { "TCP" } (tcp) } }
        @if let Some(completions) = tables::completions_page(network) {
            section { h2 { "Flow completion times" } (completions) }
        }
        @if time_frames::are_shown(summary) {
            section { h2 { "Frames and losses" } (time_frames::section(summary, network)) }
        }
        section { h2 { "Hop by hop" } (tables::hops_page(summary)) (fates) }
        @if let Some(windows) = tables::windows_page(summary) {
            section { h2 { "Windows" } (windows) }
        }
    }
}

/// The section of one scheduler in a comparison.
pub(crate) fn scheduler_section(
    summary: &Summary,
    network: &NetworkSummary,
    series: &Series,
) -> Markup {
    html! {
        section {
            h2 { (summary.scheduler) }
            (tables::classes_page(network))
            (figure(&figures::goodput(summary, series), GOODPUT))
            (figure(&figures::flows(network), FLOWS))
        }
    }
}

/// The topology, and the frames that are reserved.
pub(crate) fn topology_drawings<'a>(on: &'a NetworkAnalysis<'_>) -> Vec<NamedFigure<'a>> {
    let mut drawn =
        vec![NamedFigure::new("topology", drawing::topology(on.network_plan()), TOPOLOGY)];
    if let Some(framing) = &on.framing {
        drawn.push(NamedFigure::new("frames", drawing::reservations(framing), FRAMES));
    }
    drawn
}

/// The goodput of classes over time, and that of flows.
pub(crate) fn drawings(
    summary: &Summary,
    network: &NetworkSummary,
    series: &Series,
) -> [NamedFigure<'static>; 2] {
    [
        NamedFigure::new("goodput", figures::goodput(summary, series), GOODPUT),
        NamedFigure::new("flows", figures::flows(network), FLOWS),
    ]
}

const TOPOLOGY: &str = "The nodes, the links between them, and the classes that take these.";
const FRAMES: &str = "What is reserved of the frames of each output, by class. A full box is what a frame \
    carries.";
const GOODPUT: &str = "How fast each class's receivers got what they had not got before, averaged \
    over short intervals. A class that goes several ways may get more than one link carries.";
const FLOWS: &str = "The goodput of every flow over the measured time. Level dots are fair.";
