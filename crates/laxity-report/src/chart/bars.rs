//! Bars of segments, one below another, over one axis.

use maud::{Markup, html};

use super::Figure;
use super::description::{Axis, Dash, Paper, Style};
use super::ruler::Ruler;
use super::svg::{SMALL, Sheet, TEXT, fitted, group, line, said, text_width};

const LABEL: f64 = 22.0;
const BAR: f64 = 26.0;
const GAP: f64 = 16.0;
const AXIS: f64 = 42.0;
/// Room to the left and to the right of the axis, for the labels at its ends.
const EDGE: f64 = 24.0;

/// Bars, each of segments that follow one another.
#[derive(Clone, Debug, Default)]
pub struct Bars {
    /// What they show.
    pub title: String,
    /// The axis along which they lie, from 0 on.
    pub axis: Axis,
    /// What the segments mean: names and their styles.
    pub keys: Vec<(String, Style)>,
    /// The bars, from the top.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Clone, Debug, Default)]
pub struct Bar {
    /// What is written above it.
    pub label: String,
    /// Its segments, from the left.
    pub segments: Vec<Segment>,
    /// Where the deadline lies that it is to keep.
    pub deadline: Option<f64>,
}

/// A segment of a bar.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// The place of its meaning among the keys.
    pub key: usize,
    /// Its length on the axis.
    pub length: f64,
    /// What it says when it is pointed at, before its meaning; may be empty.
    pub place: String,
}

impl From<Bars> for Figure<'static> {
    fn from(bars: Bars) -> Self {
        Figure::new(move |paper| svg(&bars, paper))
    }
}

fn svg(bars: &Bars, paper: Paper) -> String {
    let width = paper.width() - 2.0 * EDGE;
    let ends = bars.bars.iter().flat_map(|bar| [bar.length()].into_iter().chain(bar.deadline));
    let ruler = Ruler::new(&bars.axis, ends.chain([0.0]), (width / 85.0) as usize, false);
    let across = |value: f64| EDGE + ruler.place(value).unwrap_or(0.0).clamp(0.0, 1.0) * width;
    let below = (LABEL + BAR + GAP) * bars.bars.len() as f64;
    let content = html! {
        g fill="none" stroke="currentColor" {
            @for tick in &ruler.ticks {
                path d=(format!("M{:.1} 0V{below:.1}", across(tick.at))) stroke-opacity="0.13" {}
            }
            path d=(format!("M{EDGE:.1} {below:.1}h{width:.1}")) stroke-opacity="0.6" {}
        }
        @for (bar, row) in bars.bars.iter().zip(0u32..) {
            @let top = f64::from(row) * (LABEL + BAR + GAP);
            text x="0" y=(round(top + 15.0)) { (fitted(&bar.label, TEXT, paper.width())) }
            (drawn(bars, bar, top + LABEL, &across))
        }
        g opacity="0.75" {
            @for tick in &ruler.ticks {
                text x=(round(across(tick.at))) y=(round(below + 18.0)) text-anchor="middle" { (tick.label) }
            }
            text x=(round(EDGE + width / 2.0)) y=(round(below + AXIS - 4.0)) text-anchor="middle" { (bars.axis.label) }
        }
    };
    let height = below + AXIS;
    Sheet { paper, title: &bars.title, legend: &bars.legend(), width: 0.0, height }
        .document(&content)
}

/// A bar at this height.
fn drawn(bars: &Bars, bar: &Bar, y: f64, across: &impl Fn(f64) -> f64) -> Markup {
    html! {
        @for (segment, from, to) in bar.placed() {
            @let (from, to) = (across(from), across(to));
            @let (name, style) = &bars.keys[segment.key];
            @let value = said(segment.length, &bars.axis);
            @let room = to - from - 8.0;
            g class=(format!("series {}", group(*style))) {
                title { (segment.place) @if !segment.place.is_empty() { ": " } (name) ", " (value) }
                rect class=[style.css_class()] color=[style.colour()] x=(round(from)) y=(round(y))
                    width=(round((to - from).max(0.6))) height=(BAR) fill="currentColor"
                    fill-opacity=(if style.faint { "0.3" } else { "0.85" }) {}
                @if text_width(&value, SMALL) <= room {
                    text.halo x=(round((from + to) / 2.0)) y=(round(y + BAR / 2.0 + 4.0)) text-anchor="middle"
                        font-size=(SMALL) stroke="#fff" stroke-width="3" stroke-linejoin="round" paint-order="stroke" {
                        (value)
                    }
                }
            }
        }
        @if let Some(x) = bar.deadline.map(across) {
            (line(&format!("M{x:.1} {:.1}v{:.1}", y - 3.0, BAR + 8.0), Style::default().dashed(Dash::Dashed)))
        }
    }
}

impl Bars {
    /// The keys, and what the line at a deadline means.
    fn legend(&self) -> Vec<(String, Style)> {
        let has_deadline = self.bars.iter().any(|bar| bar.deadline.is_some());
        let deadline = ("deadline".to_string(), Style::default().dashed(Dash::Dashed));
        self.keys.iter().cloned().chain(has_deadline.then_some(deadline)).collect()
    }
}

impl Bar {
    fn length(&self) -> f64 {
        self.segments.iter().map(|segment| segment.length).sum()
    }

    /// The segments, each from where to where.
    fn placed<'s>(&'s self) -> Vec<(&'s Segment, f64, f64)> {
        let place = |end: &mut f64, segment: &'s Segment| {
            let from = *end;
            *end += segment.length;
            Some((segment, from, *end))
        };
        self.segments.iter().scan(0.0, place).collect()
    }
}

fn round(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Unit;

    fn bars(lengths: &[f64], deadline: Option<f64>) -> Bars {
        let segment = |(key, length): (usize, &f64)| Segment {
            key,
            length: *length,
            place: "a → <b>".to_string(),
        };
        let keys = (0..lengths.len()).map(|at| (format!("cause <{at}>"), Style::new(at)));
        let segments = lengths.iter().enumerate().map(segment).collect();
        Bars {
            title: "Bars".to_string(),
            axis: Axis::linear("Time", Unit::Time),
            keys: keys.collect(),
            bars: vec![Bar { label: "Packet <7>".to_string(), segments, deadline }],
        }
    }

    /// The left and right ends of the segments.
    fn ends(svg: &str) -> Vec<[f64; 2]> {
        let number = |part: &str, name: &str| -> f64 {
            let (_, rest) = part.split_once(&format!(" {name}=\"")).unwrap();
            rest.split('"').next().unwrap().parse().unwrap()
        };
        let segments = svg.split("<rect class=\"ink").skip(1);
        let ends = segments.map(|part| {
            let x = number(part, "x");
            [x, x + number(part, "width")]
        });
        ends.collect()
    }

    /// Each begins where the one before ends, and lengths are as the times are.
    #[test]
    fn segments_follow_one_another() {
        for paper in [Paper::Wide, Paper::Narrow] {
            let ends = ends(&svg(&bars(&[0.004, 0.012, 0.008], Some(0.03)), paper));
            assert_eq!(ends.len(), 3);
            assert!(ends.windows(2).all(|two| (two[0][1] - two[1][0]).abs() < 0.2), "{ends:?}");
            let lengths: Vec<f64> = ends.iter().map(|[from, to]| to - from).collect();
            assert!((lengths[1] - 3.0 * lengths[0]).abs() < 0.5, "{lengths:?}");
            assert!(ends[2][1] < paper.width());
        }
    }

    #[test]
    fn names_are_escaped_and_odd_lengths_are_drawn() {
        let drawn = svg(&bars(&[1e-9, 0.0, 5.0], None), Paper::Wide);
        assert!(drawn.contains("&lt;b&gt;: cause &lt;0&gt;") && drawn.contains("Packet &lt;7&gt;"));
        assert!(!drawn.contains("<b>") && !drawn.contains(">deadline<"));
        let none = svg(&Bars::default(), Paper::Wide);
        assert!(none.starts_with("<svg") && !none.contains("NaN"));
        assert!(svg(&bars(&[1.0], Some(2.0)), Paper::Narrow).contains(">deadline<"));
    }
}
