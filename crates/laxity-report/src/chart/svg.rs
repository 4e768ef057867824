//! Draws charts: a title, a legend that flows in rows below it, and frames.

use maud::{Markup, html};

use super::{Chart, Dash, Mark, Style};

mod frame;

use frame::{Area, frame};

pub(crate) const WIDTH: f64 = 1040.0;
const FRAME_HEIGHT: f64 = 390.0;
/// Panels in few rows are higher, so that the figure is about as high as `PANELS_HEIGHT`.
const PANEL_HEIGHT: (f64, f64) = (176.0, 300.0);
const PANELS_HEIGHT: f64 = 500.0;
const PANEL_GAP: f64 = 24.0;
const TITLE_HEIGHT: f64 = 34.0;
const KEY_HEIGHT: f64 = 21.0;
const KEY_LINE: f64 = 24.0;
const FONT: &str =
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
/// Longest legend entry that is shown whole.
const KEY_LIMIT: usize = 40;

pub(super) fn single(chart: &Chart) -> String {
    let (legend, top) = legend(std::slice::from_ref(chart));
    let area = Area { x: 0.0, y: top, width: WIDTH, height: FRAME_HEIGHT };
    document(&chart.title, top + FRAME_HEIGHT, html! { (legend) (frame(chart, area, false)) })
}

pub(super) fn panels(title: &str, charts: &[Chart], columns: usize) -> String {
    let (legend, top) = legend(charts);
    let columns = columns.min(charts.len()).max(1);
    let width = (WIDTH - PANEL_GAP * (columns - 1) as f64) / columns as f64;
    let rows = charts.len().div_ceil(columns) as f64;
    let height = (PANELS_HEIGHT / rows - PANEL_GAP).clamp(PANEL_HEIGHT.0, PANEL_HEIGHT.1);
    let place = |at: usize| Area {
        x: (at % columns) as f64 * (width + PANEL_GAP),
        y: top + (at / columns) as f64 * (height + PANEL_GAP),
        width,
        height,
    };
    let height = top + (rows * (height + PANEL_GAP) - PANEL_GAP).max(0.0);
    let drawn =
        html! { @for (at, chart) in charts.iter().enumerate() { (frame(chart, place(at), true)) } };
    document(title, height, html! { (legend) (drawn) })
}

pub(super) fn drawing(
    title: &str,
    names: &[(String, Style)],
    height: f64,
    content: &Markup,
) -> String {
    let series = |(name, style): &(String, Style)| super::Series {
        name: name.clone(),
        style: *style,
        ..Default::default()
    };
    let named = Chart { series: names.iter().map(series).collect(), ..Chart::default() };
    let (legend, top) = legend(&[named]);
    let moved = format!("translate(0 {top:.0})");
    document(title, top + height, html! { (legend) g transform=(moved) { (content) } })
}

fn document(title: &str, height: f64, content: Markup) -> String {
    let view = format!("0 0 {WIDTH} {height:.0}");
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(view) role="img" aria-label=(title)
            font-family=(FONT) font-size="12.5" fill="currentColor" {
            rect.paper width=(WIDTH) height=(format!("{height:.0}")) fill="#fff" {}
            text x="0" y="20" font-size="17" font-weight="600" { (title) }
            (content)
        }
    }
    .into_string()
}

/// What a style stands for.
#[derive(Clone, PartialEq)]
struct Key {
    name: String,
    mark: Mark,
    style: Style,
}

/// The legend of charts drawn together, and where it ends.
fn legend(charts: &[Chart]) -> (Markup, f64) {
    let keys = keys(charts);
    let (mut x, mut y) = (0.0, TITLE_HEIGHT);
    let mut placed = Vec::new();
    for key in &keys {
        let name = crate::quantity::shortened(&key.name, KEY_LIMIT);
        let width = KEY_LINE + 8.0 + text_width(&name, 12.5) + 20.0;
        if x > 0.0 && x + width > WIDTH {
            (x, y) = (0.0, y + KEY_HEIGHT);
        }
        placed.push((x, y, name, key));
        x += width;
    }
    let drawn = html! {
        @for (x, y, name, key) in &placed {
            g class=(format!("key {}", group(key.style))) {
                title { (key.name) }
                (swatch(*x, y + 8.0, key))
                text x=(x + KEY_LINE + 7.0) y=(y + 12.5) { (name) }
            }
        }
    };
    (drawn, if keys.is_empty() { TITLE_HEIGHT } else { y + KEY_HEIGHT + 8.0 })
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

fn swatch(x: f64, y: f64, key: &Key) -> Markup {
    match key.mark {
        Mark::Line | Mark::Step => {
            stroke(&format!("M{x:.1} {y:.1}h{KEY_LINE}"), key.mark, key.style)
        }
        Mark::Points | Mark::Sticks => {
            stroke(&format!("M{:.1} {y:.1}h0", x + KEY_LINE / 2.0), Mark::Points, key.style)
        }
    }
}

/// A path in its style.
fn stroke(data: &str, mark: Mark, style: Style) -> Markup {
    let width = match mark {
        Mark::Points => "3.6",
        Mark::Sticks => "0.8",
        Mark::Line | Mark::Step if style.faint => "1.2",
        Mark::Line | Mark::Step => "1.8",
    };
    let dashes = match style.dash {
        _ if mark == Mark::Points => None,
        Dash::Solid => None,
        Dash::Dashed => Some("7 4"),
        Dash::Dotted => Some("1.5 4"),
    };
    let opacity = (style.faint || mark == Mark::Sticks).then_some("0.55");
    html! {
        path d=(data) fill="none" stroke=(style.colour()) stroke-width=(width)
            stroke-linecap="round" stroke-linejoin="round" stroke-dasharray=[dashes]
            stroke-opacity=[opacity] {}
    }
}

/// The name that a subject's lines and legend entries share, for the page to highlight.
fn group(style: Style) -> String {
    style.subject.map(|subject| format!("subject-{subject}")).unwrap_or_default()
}

/// How wide a text is at most in the usual fonts, about.
fn text_width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ' ' | '\u{a0}' => 0.36,
        'm' | 'w' | 'M' | 'W' | '%' => 0.95,
        c if c >= '\u{1100}' && !('\u{2000}'..'\u{2e80}').contains(&c) => 1.05,
        _ => 0.63,
    };
    text.chars().map(em).sum::<f64>() * size
}
