//! The figures of a report, by their names.

use laxity_sim::summary::Summary;
use maud::{Markup, html};

use super::{ReportInput, THROUGHPUT_CAPTION, exceedance_caption, figure, omission};
use crate::admission::curves::curves;
use crate::chart::Figure;
use crate::figures;

/// A figure of a report, with what to see in it.
pub struct Drawn<'a> {
    /// What it is called, in small letters and hyphens.
    pub name: &'static str,
    /// The drawing.
    pub figure: Figure<'a>,
    /// What to see in it.
    pub caption: String,
}

impl<'a> Drawn<'a> {
    pub(crate) fn new(
        name: &'static str,
        figure: Figure<'a>,
        caption: impl Into<String>,
    ) -> Drawn<'a> {
        Drawn { name, figure, caption: caption.into() }
    }
}

/// The figures of a report of one link, in its order.
pub fn drawings(report: &ReportInput) -> Vec<Drawn<'static>> {
    let (summary, series) = (&report.judged.summary, report.series);
    let delays = exceedance_caption(summary.promises_delay(), summary.classes.len());
    let mut drawn = vec![
        Drawn::new("delays", figures::exceedance(summary, series), delays),
        Drawn::new(
            "delays-over-time",
            figures::delay_over_time(summary, series),
            delay_caption(summary),
        ),
        Drawn::new("throughput", figures::throughput(summary, series), THROUGHPUT_CAPTION),
    ];
    if let Some(compared) = &report.curves {
        drawn.push(Drawn::new("curves", curves(compared), &compared.caption));
    }
    if !report.packets.is_empty() {
        let single = figures::packet_delays("Delays of single packets", &report.packets, 1);
        drawn.push(Drawn::new("packets", single, PACKETS_CAPTION));
    }
    drawn
}

/// All of them on a page.
pub(crate) fn section(drawn: &[Drawn]) -> Markup {
    html! {
        section {
            h2 { "Figures" }
            @for one in drawn { (figure(&one.figure, &one.caption)) }
        }
    }
}

const PACKETS_CAPTION: &str =
    "Each dot is a packet: when it was measured, and how long it was delayed.";

fn delay_caption(summary: &Summary) -> String {
    format!(
        "From a packet's last bit in to its last bit out, by time of departure: the largest and the \
         mean delay of each short interval. No line is drawn where nothing was sent. All panels \
         have the same axes.{}",
        omission(summary.classes.len())
    )
}
