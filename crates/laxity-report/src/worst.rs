//! The longest delays that were found, beside those that are proved: a table, and a page of who
//! sends when.

use std::collections::BTreeMap;

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_plan::Plan;
use maud::html;

use crate::chart::{Along, Axis, Chart, Dash, Figure, Mark, Marker, Series, Style, Unit};
use crate::figures::NS;
use crate::html::{facts, figure as drawn, grid, page as whole};
use crate::quantity::{TimeUnit, count, percent, shortened, time};
use crate::table::table;
use crate::visible::line;

/// What was found of a class along a path.
#[derive(Clone, Debug)]
pub struct Row {
    /// The class.
    pub class: String,
    /// The nodes from the sender to the receiver; none on a link.
    pub nodes: Vec<String>,
    /// What is proved.
    pub bound: Nanos,
    /// What happens.
    pub found: Nanos,
    /// When the packet arrived that takes so long.
    pub arrival: Nanos,
    /// How many packets bring it about.
    pub packets: usize,
}

/// A packet that is sent.
#[derive(Clone, Copy, Debug)]
pub struct Burst {
    /// When.
    pub time: Nanos,
    /// Its class.
    pub class: ClassId,
    /// From which source, from 0.
    pub source: usize,
    /// In bytes.
    pub length: u32,
}

fn header(unit: TimeUnit) -> [String; 6] {
    let [most, found] = ["at most", "happens"].map(|of| unit.head(of));
    let [class, path, part, packets] =
        ["class", "path", "of the bound", "packets"].map(str::to_owned);
    [class, path, most, found, part, packets]
}

impl Row {
    fn cells(&self, unit: TimeUnit) -> Vec<String> {
        vec![
            line(&self.class).into_owned(),
            line(&self.nodes.join(" → ")).into_owned(),
            unit.whole(Some(self.bound.0)),
            unit.whole(Some(self.found.0)),
            percent(self.found.0 as f64 / self.bound.0.max(1) as f64),
            count(self.packets as u64),
        ]
    }
}

/// Without a column that is empty everywhere.
fn cells(rows: &[Row]) -> (Vec<String>, Vec<Vec<String>>) {
    let is_link = rows.iter().all(|row| row.nodes.is_empty());
    let kept = |cells: Vec<String>| {
        let kept = cells.into_iter().enumerate().filter(|(at, _)| !(is_link && *at == 1));
        kept.map(|(_, cell)| cell).collect()
    };
    let unit = TimeUnit::from_whole(
        rows.iter().flat_map(|row| [row.bound, row.found].map(|of| Some(of.0))),
    );
    (kept(header(unit).to_vec()), rows.iter().map(|row| kept(row.cells(unit))).collect())
}

const EXPLAINED: &str = "No packet takes longer than the bound, which is proved. The delay that happens was found by \
    a search over traffic that keeps to every `arrival`; what lies between the two may happen or not.\n";

/// The table for people.
pub fn text(rows: &[Row]) -> String {
    let (header, cells) = cells(rows);
    format!("{}\n{EXPLAINED}", table(&header, &cells) + "\n")
}

/// A class and a source, with when it had sent how much.
type Sender = ((usize, usize), Vec<(f64, f64)>);

/// The most lines of a picture.
const MOST_LINES: usize = 8;

/// How much each class has sent from each source, and when the packet is under way that takes
/// longest.
fn picture(plan: &Plan, row: &Row, packets: &[Burst]) -> Figure<'static> {
    let is_network = plan.network.is_some();
    let mut senders: BTreeMap<(usize, usize), Vec<(f64, f64)>> = BTreeMap::new();
    let mut sent: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for Burst { time, class, source, length } in packets {
        let sender = (class.index(), *source);
        let so_far = sent.entry(sender).or_default();
        let points = senders.entry(sender).or_insert_with(|| vec![(0.0, 0.0)]);
        *so_far += f64::from(*length);
        points.push((time.0 as f64 * NS, *so_far));
    }
    let mut most: Vec<_> = senders.into_iter().collect();
    most.sort_by(|(a, _), (b, _)| sent[b].total_cmp(&sent[a]));
    most.truncate(MOST_LINES);
    most.sort_by_key(|(sender, _)| *sender);
    let end =
        [row.arrival.saturating_add(row.found), packets.last().map_or(Nanos::ZERO, |of| of.time)];
    let end = end.map(|time| time.0 as f64 * NS).into_iter().fold(0.0, f64::max);
    let steps = |(place, ((class, source), mut points)): (usize, Sender)| {
        let last = points[points.len() - 1].1;
        points.push((end, last));
        let name = &plan.classes[class].name;
        let name = if is_network { format!("{name}, source {}", source + 1) } else { name.clone() };
        Series::new(name, Mark::Step, Style::new(place), points)
    };
    let flag = |at: Nanos, meaning, dash| {
        Marker::new(Along::Y, at.0 as f64 * NS, meaning, Style::default().dashed(dash))
    };
    Figure::from(Chart {
        title: format!("Who sends when {} is delayed longest", shortened(&row.class, 24)),
        x: Axis::linear("Time", Unit::Time).within(Some((0.0, end))),
        y: Axis::linear("Sent so far", Unit::Size),
        series: most.into_iter().enumerate().map(steps).collect(),
        markers: vec![
            flag(row.arrival, "the slowest packet arrives", Dash::Dashed),
            flag(row.arrival.saturating_add(row.found), "it is through", Dash::Dotted),
        ],
    })
}

/// The largest number of rows with a picture.
const MOST_PICTURES: usize = 24;

/// What was found as one HTML file.
pub fn page(plan: &Plan, found: &[(Row, Vec<Burst>)]) -> String {
    let rows: Vec<Row> = found.iter().map(|(row, _)| row.clone()).collect();
    let (header, cells) = cells(&rows);
    let words = header.len() - 5;
    let tight = |row: &Row| row.found.0 as f64 / row.bound.0.max(1) as f64;
    let mut shares: Vec<f64> = rows.iter().map(tight).collect();
    shares.sort_by(f64::total_cmp);
    let about = [
        ("Classes and paths", count(rows.len() as u64)),
        ("Found of the bound, median", percent(shares[shares.len() / 2])),
    ];
    whole(
        plan.title.as_deref().unwrap_or("What happens at the worst"),
        &html! {
            (facts(&about))
            p { (EXPLAINED.replace('`', "")) }
            (grid(&header, &cells, words))
            @for (row, packets) in found.iter().take(MOST_PICTURES) {
                section {
                    h2 {
                        (row.class)
                        @if !row.nodes.is_empty() { ", " (row.nodes.join(" → ")) }
                    }
                    p {
                        "At most " (time(row.bound.0 as f64)) ", " (time(row.found.0 as f64)) " happens."
                    }
                    (drawn(&picture(plan, row, packets), "What each sender has sent, and when the slowest packet is under way."))
                }
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Paper;
    use crate::sample;

    /// A class that sends three packets within a span. The second is through at the end of the
    /// span.
    fn found(span: u64) -> (Row, Vec<Burst>) {
        let row = Row {
            class: "one".into(),
            nodes: Vec::new(),
            bound: Nanos(span),
            found: Nanos(span / 2),
            arrival: Nanos(span - span / 2),
            packets: 3,
        };
        let burst = |at| Burst { time: Nanos(at), class: ClassId(0), source: 0, length: 1500 };
        (row, [0, span / 2, span].map(burst).to_vec())
    }

    #[test]
    fn time_has_a_unit_that_fits_the_span() {
        for (span, unit, of, happens) in [
            (10_000, "µs", 10.0, "At most 10 µs, 5 µs happens."),
            (5_000_000, "ms", 5.0, "At most 5 ms, 2.5 ms happens."),
            (3_000_000_000, "s", 3.0, "At most 3 s, 1.5 s happens."),
        ] {
            let (row, packets) = found(span);
            let page = page(&sample::plan(), &[(row.clone(), packets.clone())]);
            let page = page.replace('\u{a0}', " ");
            assert!(page.contains(happens) && page.contains(&format!("at most {unit}")), "{page}");
            for paper in [Paper::Wide, Paper::Narrow] {
                let svg = picture(&sample::plan(), &row, &packets).on(paper);
                let ticks: Vec<f64> = below(&svg, paper, unit);
                assert!(ticks.len() >= 3 && ticks.is_sorted(), "{ticks:?}");
                let last = ticks[ticks.len() - 1];
                assert!(ticks[0] == 0.0 && last <= of && last >= 0.6 * of, "{ticks:?}");
            }
        }
    }

    /// What stands below the axis in this unit, all of it on the paper.
    fn below(svg: &str, paper: Paper, unit: &str) -> Vec<f64> {
        let labels = svg.split("<text x=\"").skip(1).filter_map(|text| {
            let (x, rest) = text.split_once('"')?;
            let (attributes, rest) = rest.split_once('>')?;
            let label = rest.split('<').next()?;
            let half = crate::chart::text_width(label, 12.5) / 2.0;
            let x: f64 = x.parse().ok()?;
            if !attributes.contains("middle") || label == "Time" {
                return None;
            }
            assert!(x - half >= 0.0 && x + half <= paper.width() + 0.1, "{label} at {x}");
            let (number, of) = label.split_once('\u{a0}')?;
            assert_eq!(of, unit);
            number.parse().ok()
        });
        labels.collect()
    }
}
