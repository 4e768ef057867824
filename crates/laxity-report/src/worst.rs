//! The longest delays that were found, beside those that are proved: a table, and a page of who
//! sends when.

use std::collections::BTreeMap;

use laxity_answers::worst::{TimedPacket, WorstCase};
use laxity_plan::Plan;
use maud::html;

use crate::chart::{Along, Axis, Chart, Dash, Figure, Mark, Marker, Series, Style, Unit};
use crate::figures::NS;
use crate::html::{facts, figure as drawn, grid, page as whole};
use crate::quantity::{TimeUnit, count, percent, shortened, time};
use crate::table::table;
use crate::visible::line;

fn header(unit: TimeUnit) -> [String; 6] {
    let [most, found] = ["at most", "happens"].map(|of| unit.head(of));
    let [class, path, part, packets] =
        ["class", "path", "of the bound", "packets"].map(str::to_owned);
    [class, path, most, found, part, packets]
}

fn row(case: &WorstCase, unit: TimeUnit) -> Vec<String> {
    vec![
        line(&case.class).into_owned(),
        line(&case.nodes.join(" → ")).into_owned(),
        unit.whole(Some(case.bound_ns)),
        unit.whole(Some(case.found_ns)),
        percent(tightness(case)),
        count(case.packets as u64),
    ]
}

/// The share of the bound that was found.
fn tightness(case: &WorstCase) -> f64 {
    case.found_ns as f64 / case.bound_ns.max(1) as f64
}

/// Without a column that is empty everywhere.
fn cells(cases: &[WorstCase]) -> (Vec<String>, Vec<Vec<String>>) {
    let is_link = cases.iter().all(|case| case.nodes.is_empty());
    let kept = |cells: Vec<String>| {
        let kept = cells.into_iter().enumerate().filter(|(at, _)| !(is_link && *at == 1));
        kept.map(|(_, cell)| cell).collect()
    };
    let times = cases.iter().flat_map(|case| [case.bound_ns, case.found_ns].map(Some));
    let unit = TimeUnit::from_whole(times);
    (kept(header(unit).to_vec()), cases.iter().map(|case| kept(row(case, unit))).collect())
}

const EXPLAINED: &str = "No packet takes longer than the bound, which is proved. The delay that happens was found by \
    a search over traffic that keeps to every `arrival`; what lies between the two may happen or not.\n";

/// The table for people.
pub fn text(cases: &[WorstCase]) -> String {
    let (header, cells) = cells(cases);
    format!("{}\n{EXPLAINED}", table(&header, &cells) + "\n")
}

/// A class and a source, with when it had sent how much.
type Sender = ((usize, usize), Vec<(f64, f64)>);

/// The most lines of a picture.
const MOST_LINES: usize = 8;

/// How much each class has sent from each source, and when the packet is under way that takes
/// longest.
fn picture(plan: &Plan, case: &WorstCase) -> Figure<'static> {
    let is_network = plan.network.is_some();
    let mut senders: BTreeMap<(usize, usize), Vec<(f64, f64)>> = BTreeMap::new();
    let mut sent: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for TimedPacket { time, class, source, length, .. } in &case.sent {
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
    let through = case.arrival_ns.saturating_add(case.found_ns);
    let last = case.sent.last().map_or(0, |packet| packet.time.0);
    let end = through.max(last) as f64 * NS;
    let steps = |(place, ((class, source), mut points)): (usize, Sender)| {
        let last = points[points.len() - 1].1;
        points.push((end, last));
        let name = &plan.classes[class].name;
        let name = if is_network { format!("{name}, source {}", source + 1) } else { name.clone() };
        Series::new(name, Mark::Step, Style::new(place), points)
    };
    let flag = |at: u64, meaning, dash| {
        Marker::new(Along::Y, at as f64 * NS, meaning, Style::default().dashed(dash))
    };
    Figure::from(Chart {
        title: format!("Who sends when {} is delayed longest", shortened(&case.class, 24)),
        x: Axis::linear("Time", Unit::Time).within(Some((0.0, end))),
        y: Axis::linear("TimedPacket so far", Unit::Size),
        series: most.into_iter().enumerate().map(steps).collect(),
        markers: vec![
            flag(case.arrival_ns, "the slowest packet arrives", Dash::Dashed),
            flag(through, "it is through", Dash::Dotted),
        ],
    })
}

/// The largest number of rows with a picture.
const MOST_PICTURES: usize = 24;

/// What was found as one HTML file.
pub fn page(plan: &Plan, cases: &[WorstCase]) -> String {
    let (header, cells) = cells(cases);
    let words = header.len() - 5;
    let mut shares: Vec<f64> = cases.iter().map(tightness).collect();
    shares.sort_by(f64::total_cmp);
    let about = [
        ("Classes and paths", count(cases.len() as u64)),
        ("Found of the bound, median", percent(shares[shares.len() / 2])),
    ];
    whole(
        plan.title.as_deref().unwrap_or("What happens at the worst"),
        &html! {
            (facts(&about))
            p { (EXPLAINED.replace('`', "")) }
            (grid(&header, &cells, words))
            @for case in cases.iter().take(MOST_PICTURES) {
                section {
                    h2 {
                        (case.class)
                        @if !case.nodes.is_empty() { ", " (case.nodes.join(" → ")) }
                    }
                    p {
                        "At most " (time(case.bound_ns as f64)) ", " (time(case.found_ns as f64)) " happens."
                    }
                    (drawn(&picture(plan, case), "What each sender has sent, and when the slowest packet is under way."))
                }
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use laxity::packet::ClassId;
    use laxity::units::Nanos;

    use super::*;
    use crate::chart::Paper;
    use crate::testing::sample;

    /// A class that sends three packets within a span. The second is through at the end of the
    /// span.
    fn found(span: u64) -> WorstCase {
        let packet = |at| TimedPacket {
            time: Nanos(at),
            class: ClassId(0),
            source: 0,
            flow: 0,
            length: 1500,
        };
        WorstCase {
            class: "one".into(),
            nodes: Vec::new(),
            bound_ns: span,
            found_ns: span / 2,
            arrival_ns: span - span / 2,
            packets: 3,
            sent: [0, span / 2, span].map(packet).to_vec(),
        }
    }

    #[test]
    fn time_has_a_unit_that_fits_the_span() {
        for (span, unit, of, happens) in [
            (10_000, "µs", 10.0, "At most 10 µs, 5 µs happens."),
            (5_000_000, "ms", 5.0, "At most 5 ms, 2.5 ms happens."),
            (3_000_000_000, "s", 3.0, "At most 3 s, 1.5 s happens."),
        ] {
            let case = found(span);
            let page = page(&sample::plan(), std::slice::from_ref(&case));
            let page = page.replace('\u{a0}', " ");
            assert!(page.contains(happens) && page.contains(&format!("at most {unit}")), "{page}");
            for paper in [Paper::Wide, Paper::Narrow] {
                let svg = picture(&sample::plan(), &case).on(paper);
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
