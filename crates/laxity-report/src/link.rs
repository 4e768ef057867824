//! What was measured of a link, forwarded over or watched, as an HTML file like that of a
//! simulation.

mod tables;

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::admission::AdmissionView;
use crate::chart::{self, Mark, Style};
use crate::figures::{self, CHART_BINS, Exceedance, NS, exceedance_points};
use crate::html::{
    THROUGHPUT_CAPTION, admission_section, exceedance_caption, facts, figure, listed, omission,
    page, said,
};
use crate::quantity::{count, time};

/// What a report of a link is made from.
#[derive(Clone, Debug)]
pub struct LinkReport {
    /// What it is of.
    pub title: String,
    /// What there is to know of it, each with its name.
    pub facts: Vec<(&'static str, String)>,
    /// What there is to know of all figures.
    pub remarks: Vec<String>,
    /// Directions under a plan, in the order of time.
    pub ways: Vec<WayReport>,
}

/// A direction under a plan.
#[derive(Clone, Debug)]
pub struct WayReport {
    /// What it is called.
    pub title: String,
    /// Whether every packet kept its bound, as far as that is judged.
    pub kept: bool,
    /// The same in words.
    pub headline: Option<String>,
    /// What there is to know of the figures.
    pub remarks: Vec<String>,
    /// What the admission test said, if it was asked.
    pub admission: Option<AdmissionView>,
    /// How late the link chose what to send, if that is known.
    pub late: Option<Delays>,
    /// From where to where delays are measured.
    pub measured: &'static str,
    /// What is said of packets that are not sent.
    pub unsent: &'static str,
    /// The link's rate in bits a second.
    pub rate_bps: u64,
    /// How long was measured.
    pub duration_ns: u64,
    /// The length of the intervals of [`ClassReport::bytes`], in ns.
    pub interval_ns: u64,
    /// The classes that have packets, in the plan's order.
    pub classes: Vec<ClassReport>,
}

/// A class.
#[derive(Clone, Debug, Default)]
pub struct ClassReport {
    /// Its name.
    pub name: String,
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that were sent.
    pub sent: u64,
    /// Packets that were not, by reason.
    pub unsent: BTreeMap<String, u64>,
    /// Bits sent a second.
    pub throughput_bps: f64,
    /// The delays of what was sent; absent when nothing was.
    pub delay: Option<Delays>,
    /// The promised delay.
    pub deadline_ns: Option<u64>,
    /// The proved delay.
    pub bound_ns: Option<u64>,
    /// Packets that took longer than that.
    pub bound_misses: u64,
    /// How many packets had a delay in each bucket that holds some: its upper edge in ns, packets.
    pub spread: Vec<(u64, u64)>,
    /// Bytes sent in each interval.
    pub bytes: Vec<u64>,
}

/// A distribution of times in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Delays {
    pub min: u64,
    pub mean: f64,
    pub p50: u64,
    pub p99: u64,
    pub p99_9: u64,
    pub max: u64,
}

/// The report as an HTML file.
pub fn html(report: &LinkReport) -> String {
    page(
        &report.title,
        &html! {
            (facts(&report.facts))
            (listed(&report.remarks))
            @for way in &report.ways { (way_section(way, report.ways.len() > 1)) }
        },
    )
}

fn way_section(way: &WayReport, is_one_of_several: bool) -> Markup {
    let classes = way.classes.len();
    html! {
        section.way {
            h2 { (way.title) }
            @if is_one_of_several { p.note { "For " (time(way.duration_ns as f64)) "." } }
            (said(way.kept, way.is_promised(), way.headline.as_deref(), &way.broken()))
            (listed(&way.remarks))
        }
        @if let Some(admission) = &way.admission { (admission_section(admission)) }
        section {
            h2 { "Classes" }
            (tables::classes(way))
            (tables::unsent(way))
            @if let Some(late) = &way.late { (tables::late(late)) }
        }
        section {
            h2 { "Figures" }
            (figure(&exceedance(way), &exceedance_caption(way.is_promised(), classes)))
            (figure(&throughput(way), &format!("{THROUGHPUT_CAPTION}{}", omission(classes))))
        }
    }
}

impl WayReport {
    fn is_promised(&self) -> bool {
        self.classes.iter().any(|class| class.bound_ns.or(class.deadline_ns).is_some())
    }

    /// The classes with packets that took longer than their bound, in words.
    fn broken(&self) -> Vec<String> {
        let late = self.classes.iter().filter(|class| class.bound_misses > 0);
        late.map(ClassReport::broken).collect()
    }

    /// The classes that figures show, with their places.
    fn shown(&self) -> Vec<(usize, &ClassReport)> {
        figures::shown(self.classes.iter(), |class| class.bound_misses > 0)
    }
}

impl ClassReport {
    fn broken(&self) -> String {
        let packets = if self.bound_misses == 1 { "packet" } else { "packets" };
        let bound = self.bound_ns.map_or(f64::NAN, |bound| bound as f64);
        let (name, misses) = (&self.name, count(self.bound_misses));
        format!("{name}: {misses} {packets} took longer than the bound of {}", time(bound))
    }

    /// For each delay the share of packets that were delayed for longer.
    fn exceedance(&self) -> Vec<(u64, f64)> {
        let all: u64 = self.spread.iter().map(|(_, packets)| packets).sum();
        let longer = self.spread.iter().scan(all, |left, (upper, packets)| {
            *left -= packets;
            Some((*upper, *left as f64 / all as f64))
        });
        longer.collect()
    }
}

fn exceedance(way: &WayReport) -> chart::Figure<'static> {
    let curves = way.shown().into_iter().map(|(at, class)| Exceedance {
        at,
        name: class.name.clone(),
        bound_ns: class.bound_ns,
        deadline_ns: class.deadline_ns,
        points: exceedance_points(&class.exceedance()),
    });
    figures::exceedance_of(figures::WAITING, curves)
}

fn throughput(way: &WayReport) -> chart::Figure<'static> {
    let longest = way.classes.iter().map(|class| class.bytes.len()).max().unwrap_or_default();
    let together = longest.div_ceil(CHART_BINS).max(1);
    let width = way.interval_ns.max(1) * together as u64;
    let line = |(at, class): (usize, &ClassReport)| {
        let point = |(at, bytes): (usize, &[u64])| {
            // The last interval ends when measuring does.
            let begin = at as u64 * width;
            let end = (begin + width).min(way.duration_ns.max(begin + 1));
            let bits = bytes.iter().sum::<u64>() as f64 * 8.0;
            ((begin + end) as f64 / 2.0 * NS, bits / ((end - begin) as f64 * NS))
        };
        let points = class.bytes.chunks(together).enumerate().map(point).collect();
        chart::Series::new(&class.name, Mark::Line, Style::new(at), points)
    };
    let lines = way.shown().into_iter().map(line).collect();
    figures::throughput_of(lines, way.rate_bps, way.duration_ns)
}

#[cfg(test)]
mod tests;
