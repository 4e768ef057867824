//! Draws charts: a title, a legend that flows in rows below it, and what is within the axes.

use maud::{Markup, html};

use super::description::{Chart, Mark, Paper, Series, Style};
use crate::quantity::shortened;
use crate::visible::visible;

mod axes;
mod line;
mod text;

pub(super) use axes::said;
use axes::{Area, within_axes};
pub(super) use line::group;
use line::stroke;
pub(crate) use line::{line, swatch};
pub(crate) use text::text_width;
use text::{BOLD, lines};
pub(super) use text::{SMALL, TEXT, fitted};

/// Panels in few rows are higher, so that the figure is about as high as `PANELS_HEIGHT`.
const PANEL_HEIGHT: (f64, f64) = (176.0, 300.0);
const PANELS_HEIGHT: f64 = 500.0;
const PANEL_GAP: f64 = 24.0;
const TITLE_HEIGHT: f64 = 34.0;
const TITLE_LINE: f64 = 22.0;
const TITLE: f64 = 17.0;
const KEY_HEIGHT: f64 = 21.0;
const KEY_LINE: f64 = 24.0;
const FONT: &str =
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
/// Longest legend entry that is shown whole.
const KEY_LIMIT: usize = 72;

/// What is drawn by hand, below a title and a legend of names in their styles.
pub(crate) struct Sheet<'a> {
    pub paper: Paper,
    pub title: &'a str,
    pub legend: &'a [(String, Style)],
    /// May be wider than the paper: the page then scrolls.
    pub width: f64,
    pub height: f64,
}

pub(super) fn single(chart: &Chart, paper: Paper) -> String {
    let head = Head::new(&chart.title, std::slice::from_ref(chart), paper);
    let height = match paper {
        Paper::Wide => 390.0,
        Paper::Narrow => 300.0,
    };
    let area = Area { x: 0.0, y: head.height, width: paper.width(), height };
    head.document((0.0, height), &within_axes(chart, area, false))
}

pub(super) fn panels(title: &str, charts: &[Chart], columns: usize, paper: Paper) -> String {
    let head = Head::new(title, charts, paper);
    let columns = match paper {
        Paper::Wide => columns.min(charts.len()).max(1),
        Paper::Narrow => 1,
    };
    let width = (paper.width() - PANEL_GAP * (columns - 1) as f64) / columns as f64;
    let rows = charts.len().div_ceil(columns) as f64;
    let height = (PANELS_HEIGHT / rows - PANEL_GAP).clamp(PANEL_HEIGHT.0, PANEL_HEIGHT.1);
    let place = |at: usize| Area {
        x: (at % columns) as f64 * (width + PANEL_GAP),
        y: head.height + (at / columns) as f64 * (height + PANEL_GAP),
        width,
        height,
    };
    let drawn = html! { @for (at, chart) in charts.iter().enumerate() { (within_axes(chart, place(at), true)) } };
    head.document((0.0, (rows * (height + PANEL_GAP) - PANEL_GAP).max(0.0)), &drawn)
}

impl Sheet<'_> {
    /// An SVG document with this content, which has the sheet's width and height.
    pub(crate) fn document(&self, content: &Markup) -> String {
        let series =
            |(name, style): &(String, Style)| Series::new(name, Mark::Line, *style, Vec::new());
        let named = Chart { series: self.legend.iter().map(series).collect(), ..Chart::default() };
        let head = Head::new(self.title, &[named], self.paper);
        let moved = format!("translate(0 {:.0})", head.height);
        head.document((self.width, self.height), &html! { g transform=(moved) { (content) } })
    }
}

/// What stands above a drawing.
struct Head<'a> {
    paper: Paper,
    title: &'a str,
    drawn: Markup,
    height: f64,
}

impl<'a> Head<'a> {
    fn new(title: &'a str, charts: &[Chart], paper: Paper) -> Self {
        let lines = lines(title, BOLD * TITLE, paper.width());
        let below = TITLE_HEIGHT + TITLE_LINE * (lines.len().max(1) - 1) as f64;
        let (legend, height) = legend(charts, below, paper.width());
        let drawn = html! {
            @for (at, line) in lines.iter().enumerate() {
                text x="0" y=(20.0 + TITLE_LINE * at as f64) font-size=(TITLE) font-weight="600" { (line) }
            }
            (legend)
        };
        Head { paper, title, drawn, height }
    }

    /// With a drawing of this width and height below, or that of the paper if it is wider.
    fn document(&self, (width, height): (f64, f64), content: &Markup) -> String {
        let (width, height) = (width.max(self.paper.width()), self.height + height);
        let view = format!("0 0 {width:.0} {height:.0}");
        let least = (width > self.paper.width()).then(|| format!("min-width:{width:.0}px"));
        let document = html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(view) role="img" aria-label=(self.title)
                font-family=(FONT) font-size=(TEXT) fill="currentColor" style=[least] {
                rect.paper width=(format!("{width:.0}")) height=(format!("{height:.0}")) fill="#fff" {}
                (self.drawn)
                (content)
            }
        };
        visible(&document.into_string()).into_owned()
    }
}

/// What a style stands for.
#[derive(Clone, PartialEq)]
struct Key {
    name: String,
    mark: Mark,
    style: Style,
}

/// The legend of charts drawn together from a height on, and where it ends.
fn legend(charts: &[Chart], from: f64, room: f64) -> (Markup, f64) {
    let keys = keys(charts);
    let (mut x, mut y) = (0.0, from);
    let mut placed = Vec::new();
    for key in &keys {
        let name = fitted(&shortened(&key.name, KEY_LIMIT), TEXT, room - KEY_LINE - 8.0);
        let width = KEY_LINE + 8.0 + text_width(&name, TEXT) + 20.0;
        if x > 0.0 && x + width > room {
            (x, y) = (0.0, y + KEY_HEIGHT);
        }
        placed.push((x, y, name, key));
        x += width;
    }
    let drawn = html! {
        @for (x, y, name, key) in &placed {
            g class=(format!("key {}", group(key.style))) {
                title { (key.name) }
                (sample(*x, y + 8.0, key))
                text x=(x + KEY_LINE + 7.0) y=(y + 12.5) { (name) }
            }
        }
    };
    (drawn, if keys.is_empty() { from } else { y + KEY_HEIGHT + 8.0 })
}

/// The legend's entries; one that stands for several colours takes the text's colour.
fn keys(charts: &[Chart]) -> Vec<Key> {
    let series = charts.iter().flat_map(|chart| &chart.series).map(|series| Key {
        name: series.name.clone(),
        mark: series.mark,
        style: series.style,
    });
    let markers = charts.iter().flat_map(|chart| &chart.markers).map(|marker| Key {
        name: marker.meaning.clone(),
        mark: Mark::Line,
        style: Style { subject: None, ..marker.style },
    });
    let mut keys: Vec<Key> = Vec::new();
    for key in series.chain(markers).filter(|key| !key.name.is_empty()) {
        match keys.iter_mut().find(|known| known.name == key.name) {
            None => keys.push(key),
            Some(known) if known.style.subject != key.style.subject => {
                known.style = Style { subject: None, dash: known.style.dash, ..key.style };
            }
            Some(_) => {}
        }
    }
    keys
}

fn sample(x: f64, y: f64, key: &Key) -> Markup {
    match key.mark {
        Mark::Line | Mark::Step => {
            stroke(&format!("M{x:.1} {y:.1}h{KEY_LINE}"), key.mark, key.style)
        }
        Mark::Beads => html! {
            (stroke(&format!("M{x:.1} {y:.1}h{KEY_LINE}"), Mark::Line, key.style))
            (stroke(&format!("M{:.1} {y:.1}h0", x + KEY_LINE / 2.0), Mark::Points, key.style))
        },
        Mark::Points | Mark::Sticks => {
            stroke(&format!("M{:.1} {y:.1}h0", x + KEY_LINE / 2.0), Mark::Points, key.style)
        }
    }
}
