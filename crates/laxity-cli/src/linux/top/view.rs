//! What the screen shows.

use laxity_live::status::{Delayer, NetworkStatus, Status, WayStatus};
use laxity_report::quantity::{self, TimeUnit};
use laxity_report::visible::visible;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::bar;
use super::columns::COLUMNS;
use super::promised;
use super::state::{Row, State};
use super::talkers;
use crate::linux::measurement;

/// How wide the names of classes are at least and at most.
const NAMES: (usize, usize) = (10, 40);

/// Draws all of it.
pub(super) fn draw(state: &mut State, frame: &mut Frame<'_>) {
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(2), Constraint::Min(0), Constraint::Length(1)])
            .areas(frame.area());
    frame.render_widget(Paragraph::new(heading(state.status())), head);
    let lines = ways(state, usize::from(body.width));
    let beyond = lines.len().saturating_sub(usize::from(body.height));
    state.scrolled = state.scrolled.min(beyond);
    let shown = lines.into_iter().skip(state.scrolled).collect::<Vec<_>>();
    frame.render_widget(Paragraph::new(shown), body);
    frame.render_widget(footer(state), foot);
}

fn heading(status: &Status) -> Vec<Line<'static>> {
    let first = format!("laxity {}   {}", status.version, measurement::heading(status));
    let mut facts = Vec::new();
    if status.real_time == Some(false) {
        facts.push("no real-time priority".into());
    }
    if let Some(reloads @ 1..) = status.reloads {
        facts.push(format!("{} followed since then", measurement::plans(reloads)));
    }
    if let Some(refused @ 1..) = status.reloads_refused {
        facts.push(format!("{} refused", measurement::plans(refused)));
    }
    let losses = measurement::losses_text(status).replace('\n', " ");
    let facts = Span::from(facts.join(", ") + "   ");
    let second = Line::from(vec![facts, Span::from(clean(&losses)).red()]);
    vec![Line::from(clean(&first)).bold(), second]
}

fn ways(state: &State, width: usize) -> Vec<Line<'static>> {
    let numbers: usize = COLUMNS.iter().map(|column| column.width).sum();
    let name = width.saturating_sub(numbers + bar::WIDTH + 1).clamp(NAMES.0, NAMES.1);
    let mut lines = Vec::new();
    for way in &state.status().ways {
        let rows = state.rows(way);
        lines.push(match &state.status().network {
            Some(network) => network_line(way, network),
            None => way_line(way, &rows),
        });
        // Of all that was ever measured, for it is not to change from second to second.
        let unit =
            TimeUnit::from_whole(way.classes.iter().flat_map(|class| {
                [class.delay_ns.as_ref().map(|delay| delay.max), class.bound_ns]
            }));
        lines.push(header(state, name, unit));
        lines.extend(rows.iter().map(|row| row_line(row, name, unit)));
        lines.extend(rows.iter().filter_map(|row| delayers_line(row, name)));
        let takes_them = way.way == "out" || state.status().network.is_some();
        if let Some(promised) = state.status().promised.as_ref().filter(|_| takes_them) {
            lines.extend(promised::lines(promised, width));
        }
        lines.extend(fate_lines(way, width));
        lines.extend(danger_lines(way, width));
        let advice = way.advice.as_deref().map(|advice| wrapped(&clean(advice), width));
        lines.extend(advice.into_iter().flatten().map(|line| Line::from(line).italic()));
        lines.extend(talkers::lines(way, talkers::COUNTS[state.talkers], width));
        lines.push(Line::default());
    }
    lines
}

fn way_line(way: &WayStatus, rows: &[Row<'_>]) -> Line<'static> {
    let sent: f64 = rows.iter().map(|row| row.rate_bps).sum();
    let link = way.present_rate_bps() as f64;
    let mut text = format!(
        "{}: {} at {}   {} of it sent",
        way.way,
        way.scheduler,
        quantity::rate(link),
        quantity::percent((1e4 * sent / link.max(1.0)).round() / 1e4),
    );
    if let Some(late) = &way.late {
        text += &format!("   late by {} at most", quantity::time(late.max as f64));
    }
    let kept = match way.broken {
        0 => Span::default(),
        broken => Span::from(format!("   {broken} broke their bound")).red(),
    };
    Line::from(vec![Span::from(clean(&text)), kept])
}

fn network_line(way: &WayStatus, network: &NetworkStatus) -> Line<'static> {
    let mut text = format!("{}: {}", way.way, way.scheduler);
    if let Some(frames) = &network.frames {
        let share = 1e4 * frames.skipped as f64 / frames.passed.max(1) as f64;
        text += &format!(
            "   {} frames skipped, {}",
            frames.skipped,
            quantity::percent(share.round() / 1e4)
        );
    }
    let kept = if network.kept {
        Span::default()
    } else {
        Span::from("   packets in their frames broke their bound or jitter").red()
    };
    Line::from(vec![Span::from(clean(&text)), kept])
}

fn header(state: &State, name: usize, unit: TimeUnit) -> Line<'static> {
    let scope = if state.of_all { "all" } else { "now" };
    let mut spans = vec![Span::from(padded(&format!("class  {} {scope}", unit.name), name))];
    for (at, column) in COLUMNS.iter().enumerate() {
        if at + 1 == COLUMNS.len() {
            spans.push(Span::from(" ".repeat(bar::WIDTH + 1)));
        }
        let chosen = state.order == Some(at);
        let title = format!("{}{}", if chosen { "▾" } else { "" }, column.title);
        let title = Span::from(format!("{title:>width$}", width = column.width));
        spans.push(if chosen { title.bold() } else { title });
    }
    Line::from(spans).style(Style::new().underlined())
}

fn row_line(row: &Row<'_>, name: usize, unit: TimeUnit) -> Line<'static> {
    let mut spans = vec![Span::from(padded(&row.class.name, name))];
    for (at, column) in COLUMNS.iter().enumerate() {
        if at + 1 == COLUMNS.len() {
            spans.push(Span::from(format!(" {}", bar::bar(row))).green());
        }
        let cell = Span::from(format!("{:>width$}", column.cell(row, unit), width = column.width));
        spans.push(if (column.is_alarming)(row) { cell.red().bold() } else { cell });
    }
    Line::from(spans)
}

/// Who delayed a class in the last second, if it waited.
fn delayers_line(row: &Row<'_>, name: usize) -> Option<Line<'static>> {
    /// More than these are little each.
    const MOST: usize = 4;
    let shares = row.delayers.iter().take(MOST).map(|Delayer { class, share }| {
        let class = class.as_deref().map_or("nothing sent".into(), clean);
        format!("{} {:.0} %", quantity::shortened(&class, NAMES.0 * 2), share * 100.0)
    });
    let shares = shares.collect::<Vec<_>>().join(", ");
    let line = format!("{}  waits for {shares}", padded(&row.class.name, name));
    (!row.delayers.is_empty()).then(|| Line::from(line).dim())
}

fn footer(state: &State) -> Line<'static> {
    if state.asks {
        return Line::from("Read the plans again and follow them? y: yes, any other key: no")
            .bold();
    }
    match &state.message {
        Some(message) => Line::from(clean(message)).bold(),
        None => Line::from(
            "q ends   r reloads   ←→ order   ↑↓ scroll   space delays now or all   f flows",
        ),
    }
}

/// What became of packets that broke their contract or were dropped.
fn fate_lines(way: &WayStatus, width: usize) -> Vec<Line<'static>> {
    /// More are in the status.
    const MOST: usize = 6;
    let mut fates = measurement::fates(way);
    let more = fates.len().saturating_sub(MOST);
    fates.truncate(MOST);
    fates.extend((more > 0).then(|| format!("And {more} more in `laxity status`.")));
    fates.iter().flat_map(|fate| wrapped(&clean(fate), width)).map(Line::from).collect()
}

/// When classes were last in danger.
fn danger_lines(way: &WayStatus, width: usize) -> Vec<Line<'static>> {
    /// More are in the status.
    const MOST: usize = 3;
    let moments = measurement::danger(way).into_iter().take(MOST);
    let lines = moments.flat_map(|moment| wrapped(&clean(&moment), width));
    lines.map(|line| Line::from(line).yellow()).collect()
}

/// A sentence in lines of at most `width` characters, unless a word is longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// Just as wide as the column of names.
pub(super) fn padded(text: &str, width: usize) -> String {
    let short = quantity::shortened(&clean(text), width);
    let line = Line::from(short.as_str());
    let missing = width.saturating_sub(line.width());
    short + &" ".repeat(missing)
}

/// Text from outside, so that no terminal obeys it.
pub(super) fn clean(text: &str) -> String {
    visible(text).into_owned()
}
