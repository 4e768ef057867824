//! One chart's axes, lines and markers.

use maud::{Markup, html};

use super::line::{group, stroke};
use super::text::{BOLD, SMALL, TEXT, fitted, text_width};
use crate::chart::description::{Along, Axis, Chart, Mark, Marker, Series};
use crate::chart::path::path;
use crate::chart::ruler::Ruler;
use crate::format::Unit;
use crate::quantity;

/// Room for the labels of the vertical axis; rates have the longest.
const LEFT: f64 = 68.0;
const LEFT_OF_RATES: f64 = 84.0;
const RIGHT: f64 = 16.0;
const LINE: f64 = 16.0;
/// More rows of labels than this would take the room of the chart; markers beyond are told by their
/// colour, and when pointed at.
const FLAG_ROWS: usize = 5;
/// Lines at the edge of the plot are drawn whole.
const BLEED: f64 = 4.0;

/// A rectangle on paper.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    fn right(self) -> f64 {
        self.x + self.width
    }

    fn bottom(self) -> f64 {
        self.y + self.height
    }
}

/// The space within the axes, with its rulers.
struct Plot {
    area: Area,
    x: Ruler,
    y: Ruler,
}

impl Plot {
    fn across(&self, value: f64) -> Option<f64> {
        self.x.place(value).map(|at| self.area.x + at.clamp(-9.0, 9.0) * self.area.width)
    }

    fn up(&self, value: f64) -> Option<f64> {
        self.y.place(value).map(|at| self.area.bottom() - at.clamp(-9.0, 9.0) * self.area.height)
    }
}

/// Draws a chart in an area, with its title in small when it is one of several.
pub(super) fn within_axes(chart: &Chart, outer: Area, titled: bool) -> Markup {
    let heading = match (titled, chart.y.label.is_empty()) {
        (true, _) => 22.0,
        (_, false) => 32.0,
        _ => 8.0,
    };
    let bottom = 24.0 + if chart.x.label.is_empty() { 0.0 } else { LINE + 4.0 };
    let left = if chart.y.unit == Unit::Rate { LEFT_OF_RATES } else { LEFT };
    let mut area = Area {
        x: outer.x + left,
        y: outer.y + heading,
        width: outer.width - left - RIGHT,
        height: outer.height - heading - bottom,
    };
    let x = Ruler::new(&chart.x, values(chart, Along::Y), (area.width / 85.0) as usize, true);
    let flags = flags(chart, &x, area);
    let flag_rows = flags.iter().filter_map(|flag| Some(flag.row? + 1)).max().unwrap_or(0);
    area.y += flag_rows as f64 * LINE;
    area.height = (area.height - flag_rows as f64 * LINE).max(60.0);
    let y = Ruler::new(&chart.y, values(chart, Along::X), (area.height / 34.0) as usize, false);
    let plot = Plot { area, x, y };
    html! {
        @if titled {
            text x=(px(area.x)) y=(px(outer.y + 13.0)) font-weight="600" {
                title { (chart.title) }
                (fitted(&chart.title, BOLD * TEXT, area.width + RIGHT))
            }
        } @else if !chart.y.label.is_empty() {
            text x=(px(outer.x)) y=(px(outer.y + 13.0)) opacity="0.75" { (chart.y.label) }
        }
        (axes(&plot, &chart.x.label, outer.bottom()))
        (flag_poles(&flags, area))
        (level_lines(chart, &plot))
        (lines(chart, &plot))
        (level_labels(chart, &plot))
    }
}

/// Every value of one axis, markers included.
fn values(chart: &Chart, marker_direction: Along) -> impl Iterator<Item = f64> {
    let points = chart.series.iter().flat_map(|series| &series.points);
    let of_points = points
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .map(move |(x, y)| if marker_direction == Along::Y { *x } else { *y });
    of_points.chain(markers(chart, marker_direction).map(|marker| marker.at))
}

fn markers(chart: &Chart, along: Along) -> impl Iterator<Item = &Marker> {
    chart.markers.iter().filter(move |marker| marker.along == along)
}

fn axes(plot: &Plot, x_label: &str, bottom: f64) -> Markup {
    let Area { x, y, width, height } = plot.area;
    let across = |values: &[f64]| -> String {
        let at = values.iter().filter_map(|value| plot.up(*value));
        at.map(|at| format!("M{x:.1} {at:.1}h{width:.1}")).collect()
    };
    let upward = |values: &[f64]| -> String {
        let at = values.iter().filter_map(|value| plot.across(*value));
        at.map(|at| format!("M{at:.1} {y:.1}v{height:.1}")).collect()
    };
    let at = |ruler: &Ruler| ruler.ticks.iter().map(|tick| tick.at).collect::<Vec<f64>>();
    let floor = plot.area.bottom();
    html! {
        g fill="none" stroke="currentColor" {
            path d=(across(&plot.y.minor) + &upward(&plot.x.minor)) stroke-opacity="0.05" {}
            path d=(across(&at(&plot.y)) + &upward(&at(&plot.x))) stroke-opacity="0.13" {}
            path d=(format!("M{x:.1} {floor:.1}h{width:.1}")) stroke-opacity="0.6" {}
        }
        g opacity="0.75" {
            @for tick in &plot.y.ticks {
                @if let Some(at) = plot.up(tick.at) {
                    text x=(px(x - 8.0)) y=(px(at + 4.0)) text-anchor="end" { (tick.label) }
                }
            }
            @for (at, label) in below(plot) {
                text x=(px(at)) y=(px(floor + 18.0)) text-anchor="middle" { (label) }
            }
            @if !x_label.is_empty() {
                text x=(px(x + width / 2.0)) y=(px(bottom - 4.0)) text-anchor="middle" { (fitted(x_label, TEXT, width)) }
            }
        }
    }
}

/// The labels below the plot and their middles: none beyond the paper, and none where its right
/// neighbour stands.
fn below(plot: &Plot) -> Vec<(f64, &str)> {
    let mut free_until = plot.area.right() + RIGHT;
    let mut labels = Vec::new();
    for tick in plot.x.ticks.iter().rev() {
        let Some(at) = plot.across(tick.at) else { continue };
        let half = text_width(&tick.label, TEXT) / 2.0;
        let at = at.min(plot.area.right() + RIGHT - half);
        if at + half <= free_until {
            free_until = at - half;
            labels.push((at, tick.label.as_str()));
        }
    }
    labels.reverse();
    labels
}

/// A vertical marker and where its label stands above the plot.
struct Flag<'a> {
    marker: &'a Marker,
    x: f64,
    label_from: f64,
    /// None if there is no room for a label.
    row: Option<usize>,
}

/// Places labels from right to left: one that would run into its right neighbour's rises a row, so
/// that no line crosses another's label.
fn flags<'a>(chart: &'a Chart, ruler: &Ruler, area: Area) -> Vec<Flag<'a>> {
    let place = |marker: &'a Marker| Some((area.x + ruler.place(marker.at)? * area.width, marker));
    let mut placed: Vec<(f64, &Marker)> = markers(chart, Along::Y).filter_map(place).collect();
    placed.retain(|(x, _)| (area.x - 1.0..=area.right() + 1.0).contains(x));
    placed.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut free_until: Vec<f64> = Vec::new();
    let mut flags = Vec::new();
    for (x, marker) in placed {
        let width = text_width(&marker.label, SMALL);
        let label_from = if x + 4.0 + width > area.right() + RIGHT {
            (x - 4.0 - width).max(area.x)
        } else {
            x + 4.0
        };
        let fits = |end: &f64| label_from + width + 6.0 <= *end;
        let row = free_until.iter().position(fits).unwrap_or(free_until.len());
        if row >= FLAG_ROWS {
            flags.push(Flag { marker, x, label_from, row: None });
            continue;
        }
        if row == free_until.len() {
            free_until.push(0.0);
        }
        for end in &mut free_until[..=row] {
            *end = label_from.min(x);
        }
        flags.push(Flag { marker, x, label_from, row: Some(row) });
    }
    flags
}

fn flag_poles(flags: &[Flag], area: Area) -> Markup {
    html! {
        @for Flag { marker, x, label_from, row } in flags {
            @let foot = area.y - row.unwrap_or(0) as f64 * LINE - 4.0;
            g class=(group(marker.style)) {
                title { (marker.label) }
                @let top = if row.is_some() { foot - 10.0 } else { area.y };
                (stroke(&format!("M{x:.1} {top:.1}V{:.1}", area.bottom()), Mark::Line, marker.style))
                @if row.is_some() { (label(*label_from, foot, "start", &marker.label)) }
            }
        }
    }
}

/// The horizontal markers within the plot with their heights on paper.
fn levels<'a>(chart: &'a Chart, plot: &Plot) -> Vec<(f64, &'a Marker)> {
    let area = plot.area;
    markers(chart, Along::X)
        .filter_map(|marker| Some((plot.up(marker.at)?, marker)))
        .filter(|(y, _)| (area.y - 1.0..=area.bottom() + 1.0).contains(y))
        .collect()
}

fn level_lines(chart: &Chart, plot: &Plot) -> Markup {
    let Area { x, width, .. } = plot.area;
    html! {
        @for (y, marker) in levels(chart, plot) {
            @let data = format!("M{x:.1} {y:.1}h{width:.1}");
            g {
                title { (marker.meaning) @if !marker.meaning.is_empty() { ": " } (said(marker.at, &chart.y)) }
                (stroke(&data, Mark::Line, marker.style))
                path d=(data) fill="none" stroke-width="8" pointer-events="stroke" {}
            }
        }
    }
}

/// Labels stand above their lines; lines close together share one.
fn level_labels(chart: &Chart, plot: &Plot) -> Markup {
    let mut levels = levels(chart, plot);
    levels.retain(|(_, marker)| !marker.label.is_empty());
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let near = |above: &(f64, &Marker), below: &(f64, &Marker)| below.0 - above.0 < LINE + 4.0;
    html! {
        @for close in levels.chunk_by(near) {
            @let text = close.iter().map(|(_, marker)| &*marker.label).collect::<Vec<_>>().join(", ");
            @let text = fitted(&text, SMALL, plot.area.width);
            (label(plot.area.right() - 4.0, close[0].0 - 5.0, "end", &text))
        }
    }
}

/// Text that stays readable on top of lines.
fn label(x: f64, y: f64, anchor: &str, text: &str) -> Markup {
    html! {
        text.halo x=(px(x)) y=(px(y)) text-anchor=(anchor) font-size=(SMALL)
            stroke="#fff" stroke-width="3" stroke-linejoin="round" paint-order="stroke" { (text) }
    }
}

fn lines(chart: &Chart, plot: &Plot) -> Markup {
    let Area { x, y, width, height } = plot.area;
    let drawn = chart.series.iter().filter_map(|series| line(series, chart, plot));
    let drawn: Vec<Markup> = drawn.collect();
    let edge = Area {
        x: x - BLEED,
        y: y - BLEED,
        width: width + 2.0 * BLEED,
        height: height + 2.0 * BLEED,
    };
    let view = format!("{:.1} {:.1} {:.1} {:.1}", edge.x, edge.y, edge.width, edge.height);
    html! {
        @if drawn.is_empty() { (label(x + width / 2.0, plot.area.bottom() - 12.0, "middle", "no data")) }
        svg x=(px(edge.x)) y=(px(edge.y)) width=(px(edge.width)) height=(px(edge.height))
            viewBox=(view) overflow="hidden" {
            @for line in drawn { (line) }
        }
    }
}

fn line(series: &Series, chart: &Chart, plot: &Plot) -> Option<Markup> {
    let place = |(x, y): &(f64, f64)| Some((plot.across(*x)?, plot.up(*y)?));
    let points: Vec<_> = series.points.iter().map(place).collect();
    let part = |mark| {
        let data = path(&points, mark, plot.area.bottom());
        (!data.is_empty()).then(|| stroke(&data, mark, series.style))
    };
    let alone = |points| {
        let data = path(&alone(points), Mark::Points, plot.area.bottom());
        (!data.is_empty()).then(|| stroke(&data, Mark::Points, series.style))
    };
    let (stems, marks) = match series.mark {
        Mark::Sticks => (part(Mark::Sticks), part(Mark::Points)?),
        Mark::Beads => (part(Mark::Line), part(Mark::Points)?),
        Mark::Points => (None, part(Mark::Points)?),
        Mark::Line | Mark::Step => (alone(&points), part(series.mark)?),
    };
    Some(html! {
        g class=(format!("series {}", group(series.style))) {
            title { (series.name) }
            @if let Some(stems) = stems { (stems) }
            (marks)
            g fill="none" pointer-events="all" {
                @for hint in hints(series, chart, &points) { (hint) }
            }
        }
    })
}

/// The most points of a series that tell their values: more would weigh as much as all else.
const MOST_HINTS: usize = 30;

/// Invisible marks that show their values under the pointer.
fn hints<'a>(
    series: &'a Series,
    chart: &'a Chart,
    places: &'a [Option<(f64, f64)>],
) -> impl Iterator<Item = Markup> + 'a {
    let stride = places.len().div_ceil(MOST_HINTS).max(1);
    let each = series.points.iter().zip(places).step_by(stride);
    each.filter_map(|((x, y), place)| {
        let (across, up) = (*place)?;
        let text = format!("{}: {} at {}", series.name, said(*y, &chart.y), said(*x, &chart.x));
        Some(html! {
            circle cx=(px(across)) cy=(px(up)) r="6" { title { (text) } }
        })
    })
}

/// A value with its unit.
pub(in crate::chart) fn said(value: f64, axis: &Axis) -> String {
    match axis.unit {
        Unit::Number => quantity::scaled(value),
        Unit::Count => quantity::count(value.round() as u64),
        Unit::Time => quantity::time(value * 1e9),
        Unit::Share => quantity::percent(value),
        Unit::Rate => quantity::rate(value),
        Unit::Size => quantity::size(value),
    }
}

/// The points between gaps, which no line shows.
fn alone(points: &[Option<(f64, f64)>]) -> Vec<Option<(f64, f64)>> {
    let is_gap = |at: usize| points.get(at).is_none_or(Option::is_none);
    let alone = |at: usize| points[at].filter(|_| is_gap(at.wrapping_sub(1)) && is_gap(at + 1));
    (0..points.len()).map(alone).collect()
}

/// A coordinate, to a tenth of a pixel.
fn px(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests;
