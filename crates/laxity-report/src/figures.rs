//! The figures of a report, each from measured results to an SVG document.

use laxity_sim::series::{Bin, ClassSeries, Series};
use laxity_sim::summary::{HopSummary, Measures, Summary};

use crate::chart::{self, Along, Axis, Chart, Dash, Figure, Mark, Marker, Style, Unit};
use crate::quantity::{rate, shortened, time};

/// More classes than a figure can tell apart; those that broke a promise come first.
pub const MOST_CLASSES: usize = 24;

/// Longest class name in a marker's label.
const NAME_LIMIT: usize = 16;
/// Intervals of a small chart and of a large one.
const PANEL_BINS: usize = 180;
pub(crate) const CHART_BINS: usize = 240;
pub(crate) const NS: f64 = 1e-9;

/// The delays of a class's packets, one by one.
#[derive(Clone, Debug, Default)]
pub struct PacketDelays {
    /// The class or the scheduler.
    pub name: String,
    /// What its colour stands for, counted from 0.
    pub subject: usize,
    /// Time in ns and delay in ns, by time.
    pub packets: Vec<(u64, u64)>,
}

/// Largest and mean delay over time, a panel a class, with its bound and its deadline.
pub fn delay_over_time(summary: &Summary, series: &Series) -> Figure<'static> {
    let shown = pairs(summary, series);
    let coarse: Vec<(f64, Vec<Bin>)> = shown
        .iter()
        .map(|(_, _, over_time)| coarsened(over_time, series.bin_ns, PANEL_BINS))
        .collect();
    let delays = |bins: &[Bin]| -> Vec<f64> {
        bins.iter()
            .filter(|bin| bin.packets > 0)
            .flat_map(|bin| [bin.delay_max as f64, mean(bin)])
            .collect()
    };
    let promises =
        shown.iter().flat_map(|(_, class, _)| class.bound_ns.into_iter().chain(class.deadline_ns));
    let range = common_range(
        coarse.iter().flat_map(|(_, bins)| delays(bins)).chain(promises.map(|ns| ns as f64)),
    );
    let charts: Vec<Chart> = shown
        .iter()
        .zip(&coarse)
        .map(|((at, class, _), (width, bins))| {
            let points = |value: fn(&Bin) -> f64| {
                let value =
                    move |bin: &Bin| if bin.packets > 0 { value(bin) * NS } else { f64::NAN };
                bins.iter()
                    .enumerate()
                    .map(|(at, bin)| ((at as f64 + 0.5) * width, value(bin)))
                    .collect()
            };
            let line = |name, faint, points| {
                let style = Style { subject: Some(*at), faint, ..Style::default() };
                chart::Series::new(name, Mark::Line, style, points)
            };
            Chart {
                title: class.class.to_owned(),
                x: Axis::linear("", Unit::Time).within(duration(summary)),
                y: Axis::log("", Unit::Time).within(range),
                series: vec![
                    line("mean", true, points(mean)),
                    line("largest", false, points(|bin| bin.delay_max as f64)),
                ],
                markers: promise_lines(class, "", Style::default()).collect(),
            }
        })
        .collect();
    Figure::panels("Delay over time", charts, 2)
}

/// The share of packets that are delayed for longer than a given time, with bounds and deadlines.
pub fn exceedance(summary: &Summary, series: &Series) -> Figure<'static> {
    let title = match summary.network {
        None => WAITING,
        Some(_) => "How many packets take longer from end to end",
    };
    let curve = |(at, class, over_time): (usize, Measures<'_>, &ClassSeries)| Exceedance {
        at,
        name: class.class.to_owned(),
        bound_ns: class.bound_ns,
        deadline_ns: class.deadline_ns,
        points: exceedance_points(&over_time.exceedance),
    };
    exceedance_of(title, pairs(summary, series).into_iter().map(curve))
}

/// The title of how delays on one link are spread.
pub(crate) const WAITING: &str = "How many packets wait longer";

/// How delays of a class are spread beside what it is promised.
pub(crate) struct Exceedance {
    /// Its place in the plan.
    pub at: usize,
    pub name: String,
    pub bound_ns: Option<u64>,
    pub deadline_ns: Option<u64>,
    /// Delays in seconds and the shares of packets that were delayed for longer.
    pub points: Vec<(f64, f64)>,
}

/// The figure of delays of classes wherever they were measured.
pub(crate) fn exceedance_of(
    title: &str,
    classes: impl Iterator<Item = Exceedance>,
) -> Figure<'static> {
    let mut chart = Chart {
        title: title.to_owned(),
        x: Axis::log("Delay", Unit::Time),
        y: Axis::log("Share of packets delayed for longer", Unit::Share),
        ..Chart::default()
    };
    for Exceedance { at, name, bound_ns, deadline_ns, points } in classes {
        let (mark, style) = (Mark::Step, Style::new(at));
        let flag = |meaning: &str, dash, ns: u64| {
            let label = format!("{} {}", shortened(&name, NAME_LIMIT), time(ns as f64));
            Marker::new(Along::Y, ns as f64 * NS, meaning, style.dashed(dash)).labelled(label)
        };
        let bound = bound_ns.filter(|_| bound_ns != deadline_ns);
        chart.markers.extend(bound.map(|ns| flag("bound", Dash::Dotted, ns)));
        chart.markers.extend(deadline_ns.map(|ns| flag("deadline", Dash::Dashed, ns)));
        chart.series.push(chart::Series { name, mark, style, points });
    }
    chart.into()
}

/// How many packets wait longer than a given delay, over a link or from end to end: a panel a
/// class, a line a scheduler.
pub fn exceedance_compared(runs: &[(&Summary, &Series)]) -> Figure<'static> {
    let all: Vec<_> = runs.iter().map(|(summary, _)| summary.classes()).collect();
    let chart = |(at, class, _): (usize, Measures<'_>, &ClassSeries)| {
        let line =
            |(run, ((summary, series), classes)): (usize, (&(&Summary, &Series), &Vec<_>))| {
                // The same place nearly always has the same class.
                let is_same = |(_, other): &&(usize, Measures<'_>)| other.class == class.class;
                let here = classes.get(at).filter(is_same);
                let same = here.or_else(|| classes.iter().find(is_same));
                let same = same.and_then(|(place, _)| series.classes.get(*place));
                let points = same.map(|same| exceedance_points(&same.exceedance));
                let style = Style::new(run);
                chart::Series::new(
                    &summary.scheduler,
                    Mark::Step,
                    style,
                    points.unwrap_or_default(),
                )
            };
        let deadline = class.deadline_ns.map(|ns| {
            let style = Style::default().dashed(Dash::Dashed);
            let line = Marker::new(Along::Y, ns as f64 * NS, DEADLINE, style);
            line.labelled(time(ns as f64))
        });
        Chart {
            title: class.class.to_owned(),
            x: Axis::log("", Unit::Time),
            y: Axis::log("", Unit::Share),
            series: runs.iter().zip(&all).enumerate().map(line).collect(),
            markers: deadline.into_iter().collect(),
        }
    };
    let classes = runs.first().into_iter().flat_map(|(summary, series)| pairs(summary, series));
    let mut charts: Vec<Chart> = classes.map(chart).collect();
    let points =
        || charts.iter().flat_map(|chart| chart.series.iter().flat_map(|line| &line.points));
    let markers = charts.iter().flat_map(|chart| &chart.markers).map(|marker| marker.at);
    let x = common_range(points().map(|(delay, _)| delay / NS).chain(markers.map(|at| at / NS)));
    let y = common_range(points().map(|(_, share)| share / NS));
    for chart in &mut charts {
        (chart.x.range, chart.y.range) = (x, y);
    }
    Figure::panels("How many packets wait longer than a given delay", charts, 2)
}

/// What each class sent over time, beside the link's rate.
pub fn throughput(summary: &Summary, link: &HopSummary, series: &Series) -> Figure<'static> {
    let line = |(at, class, over_time): (usize, Measures<'_>, &ClassSeries)| {
        let (width, bins) = coarsened(over_time, series.bin_ns, CHART_BINS);
        let point =
            |(at, bin): (usize, &Bin)| ((at as f64 + 0.5) * width, bin.bytes as f64 * 8.0 / width);
        let points = bins.iter().enumerate().map(point).collect();
        chart::Series::new(class.class, Mark::Line, Style::new(at), points)
    };
    let lines = pairs(summary, series).into_iter().map(line).collect();
    throughput_of(lines, link.rate_bps, summary.duration_ns)
}

/// The same of classes wherever they were measured.
pub(crate) fn throughput_of(
    lines: Vec<chart::Series>,
    rate_bps: u64,
    duration_ns: u64,
) -> Figure<'static> {
    let style = Style::default().dashed(Dash::Dashed);
    let link = Marker::new(Along::X, rate_bps as f64, "", style);
    let link = link.labelled(format!("link {}", rate(rate_bps as f64)));
    let chart = Chart {
        title: "Throughput over time".to_owned(),
        x: Axis::linear("Time", Unit::Time).within(Some((0.0, duration_ns as f64 * NS))),
        y: Axis::linear("Throughput", Unit::Rate),
        series: lines,
        markers: vec![link],
    };
    chart.into()
}

/// The delays of single packets over time, with a panel for each set. Panels stand in `columns`
/// columns and have equal axes.
pub fn packet_delays(title: &str, sets: &[PacketDelays], columns: usize) -> Figure<'static> {
    let all = || sets.iter().flat_map(|set| &set.packets);
    let from = all().map(|(at, _)| *at).min();
    let x = from
        .zip(all().map(|(at, _)| *at).max())
        .map(|(from, to)| (from as f64 * NS, to as f64 * NS));
    let y = all().map(|(_, delay)| *delay).max().map(|most| (0.0, most as f64 * 1.08 * NS));
    let points = |set: &PacketDelays| {
        set.packets.iter().map(|(at, delay)| (*at as f64 * NS, *delay as f64 * NS)).collect()
    };
    let chart = |set: &PacketDelays| Chart {
        title: set.name.clone(),
        x: Axis::linear("", Unit::Time).within(x),
        y: Axis::linear("", Unit::Time).within(y),
        series: vec![chart::Series::new("", Mark::Sticks, Style::new(set.subject), points(set))],
        markers: Vec::new(),
    };
    Figure::panels(title, sets.iter().map(chart).collect(), columns)
}

/// The classes that a figure shows with their place in the plan.
pub(crate) fn pairs<'a>(
    summary: &'a Summary,
    series: &'a Series,
) -> Vec<(usize, Measures<'a>, &'a ClassSeries)> {
    let all = summary.classes().into_iter();
    let all = all.filter_map(|(place, class)| Some((class, series.classes.get(place)?)));
    let shown = shown(all, |(class, _)| class.is_late());
    shown.into_iter().map(|(at, (class, over_time))| (at, class, over_time)).collect()
}

/// As many as a figure shows, those in trouble before others, with their places.
pub(crate) fn shown<T>(
    all: impl Iterator<Item = T>,
    is_in_trouble: impl Fn(&T) -> bool,
) -> Vec<(usize, T)> {
    let (mut shown, rest): (Vec<_>, Vec<_>) =
        all.enumerate().partition(|(_, class)| is_in_trouble(class));
    shown.extend(rest);
    shown.truncate(MOST_CLASSES);
    shown.sort_by_key(|(at, _)| *at);
    shown
}

/// Lines at the deadline of a class and at its bound. `whose` stands before the word of the bound,
/// which has this style.
pub(crate) fn promise_lines(
    class: &Measures<'_>,
    whose: &str,
    style: Style,
) -> impl Iterator<Item = Marker> + use<> {
    let line = |meaning: &str, whose: &str, ns: u64, style| {
        let label = format!("{whose}{meaning} {}", time(ns as f64));
        Marker::new(Along::X, ns as f64 * NS, meaning, style).labelled(label)
    };
    let dashed = Style::default().dashed(Dash::Dashed);
    let deadline = class.deadline_ns.map(|ns| line(DEADLINE, "", ns, dashed));
    let dotted = style.dashed(Dash::Dotted);
    let bound = class.bound_ns.map(|ns| line("bound", whose, ns, dotted));
    deadline.into_iter().chain(bound)
}

/// What the line at a deadline means.
pub(crate) const DEADLINE: &str = "deadline";

/// The time axis of a run, in seconds.
pub(crate) fn duration(summary: &Summary) -> Option<(f64, f64)> {
    Some((0.0, summary.duration_ns as f64 * NS))
}

/// The corners of the curve of a class's delays, which begins with all packets: delays in ns and
/// the shares of packets that were delayed for longer.
pub fn exceedance_corners(exceedance: &[(u64, f64)]) -> impl Iterator<Item = (u64, f64)> {
    let begin = exceedance.first().map(|(delay, _)| (*delay, 1.0));
    begin.into_iter().chain(exceedance.iter().copied())
}

pub(crate) fn exceedance_points(exceedance: &[(u64, f64)]) -> Vec<(f64, f64)> {
    exceedance_corners(exceedance).map(|(delay, share)| (delay as f64 * NS, share)).collect()
}

/// At most `most` intervals that cover the same time, and their width in seconds.
pub(crate) fn coarsened(over_time: &ClassSeries, bin_ns: u64, most: usize) -> (f64, Vec<Bin>) {
    let together = over_time.bins.len().div_ceil(most).max(1);
    let merge = |bins: &[Bin]| {
        bins.iter().fold(Bin::default(), |sum, bin| Bin {
            packets: sum.packets + bin.packets,
            bytes: sum.bytes + bin.bytes,
            delay_sum: sum.delay_sum.saturating_add(bin.delay_sum),
            delay_max: sum.delay_max.max(bin.delay_max),
        })
    };
    let width = (bin_ns.max(1) * together as u64) as f64 * NS;
    (width, over_time.bins.chunks(together).map(merge).collect())
}

fn mean(bin: &Bin) -> f64 {
    bin.delay_sum as f64 / bin.packets as f64
}

/// From the smallest to the largest positive value with a little room, in base units of values
/// in billionths.
fn common_range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (low, high) = values
        .filter(|value| *value > 0.0 && value.is_finite())
        .fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
    let room = (high / low).powf(0.1).max(1.4);
    (low <= high).then_some((low * NS / 1.4, high * NS * room))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Paper;
    use crate::testing::sample;

    #[test]
    fn bounds_and_deadlines_are_marked_in_their_class_s_colour() {
        let (summary, series) = sample::run(2, 1);
        let svg = exceedance(&summary, &series).svg().replace('\u{a0}', " ");
        for wanted in ["rt-0 10 ms", "rt-0 9 ms", "rt-1 10 ms", ">bound<", ">deadline<", "be-0"] {
            assert!(svg.contains(wanted), "{wanted}");
        }
        assert!(
            throughput(&summary, &summary.hops[0], &series)
                .svg()
                .replace('\u{a0}', " ")
                .contains("link 10 Mbit/s")
        );
    }

    #[test]
    fn nothing_to_draw_is_drawn() {
        let (mut summary, _) = sample::run(1, 1);
        summary.duration_ns = 0;
        let empty = Series { bin_ns: 0, classes: vec![ClassSeries::default(); 2] };
        for svg in [
            delay_over_time(&summary, &empty),
            exceedance(&summary, &empty),
            throughput(&summary, &summary.hops[0], &empty),
            exceedance_compared(&[(&summary, &empty)]),
        ] {
            for svg in [svg.on(Paper::Wide), svg.on(Paper::Narrow)] {
                assert!(svg.contains("no data") && !svg.contains("NaN"));
            }
        }
        delay_over_time(&summary, &Series::default()).svg();
        exceedance_compared(&[]).svg();
        packet_delays("none", &[PacketDelays::default()], 1).svg();
    }

    #[test]
    fn coarser_intervals_keep_sums_and_peaks() {
        let (_, series) = sample::run(1, 0);
        let (width, bins) = coarsened(&series.classes[0], series.bin_ns, 4);
        assert_eq!((width * 10.0).round(), 3.0);
        assert_eq!(bins.len(), 4);
        assert_eq!(bins.iter().map(|bin| bin.packets).sum::<u64>(), 100);
        assert_eq!(bins[3].delay_max, 7_500_000);
    }

    #[test]
    fn of_too_many_classes_those_in_trouble_are_shown() {
        let (mut summary, series) = sample::run(40, 0);
        summary.hops[0].classes[39].deadline_misses = 1;
        let shown = pairs(&summary, &series);
        assert_eq!(shown.len(), MOST_CLASSES);
        assert_eq!(shown[MOST_CLASSES - 1].0, 39);
    }
}
