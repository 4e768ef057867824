//! Tables for the terminal.

use comfy_table::{Cell, CellAlignment, Color, ContentArrangement, LineStyle, Row, Table, presets};
use laxity_sim::summary::{ClassSummary, DelaySummary, Summary, WindowSummary};

use crate::quantity::{NOTHING, megabits, millis, shortened};
use crate::verdict::too_late;

/// Longest class name that is shown whole.
const NAME_LIMIT: usize = 24;

/// Marks a number that breaks a promise.
const ALARM: char = '!';

/// A table of plain text. Columns of numbers are right-aligned, a cell that ends in `!` is red in
/// a terminal. A table wider than the terminal continues below itself, so that no number is ever
/// broken; the first column leads each part.
pub fn table<H: AsRef<str>>(header: &[H], rows: &[Vec<String>]) -> String {
    let mut width = Table::new();
    width.set_content_arrangement(ContentArrangement::Disabled);
    table_within(header, rows, width.width().map_or(usize::MAX, usize::from))
}

/// Like [`table`], for a terminal of `width` columns.
pub fn table_within<H: AsRef<str>>(header: &[H], rows: &[Vec<String>], width: usize) -> String {
    let header: Vec<&str> = header.iter().map(AsRef::as_ref).collect();
    let columns: Vec<Column> =
        (0..header.len()).map(|at| Column::new(header[at], rows, at)).collect();
    parts(&columns, width)
        .iter()
        .map(|part| draw(part, rows.len()))
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// What a run measured, a class a row. Delays are in ms; `!` marks a broken promise. The windows of
/// classes with a loss tolerance follow in a table of their own.
pub fn class_table(summary: &Summary) -> String {
    let classes = table(&CLASS_HEADER, &summary.classes.iter().map(class_row).collect::<Vec<_>>());
    let windows: Vec<_> = summary.classes.iter().filter_map(window_row).collect();
    match windows.is_empty() {
        true => classes,
        false => format!("{classes}\n\n{}", table(&WINDOW_HEADER, &windows)),
    }
}

/// Several runs of the same classes side by side: a group of rows a class, a column a scheduler.
pub fn compare_table(runs: &[Summary]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let header: Vec<String> = ["class".to_owned(), "measure".to_owned()]
        .into_iter()
        .chain(runs.iter().map(|run| run.scheduler.clone()))
        .collect();
    let rows: Vec<Vec<String>> =
        first.classes.iter().flat_map(|class| compare_rows(class, runs)).collect();
    table(&header, &rows)
}

const CLASS_HEADER: [&str; 14] = [
    "class", "arrived", "sent", "dropped", "missed", "Mbit/s", "min ms", "mean", "p50", "p99",
    "p99.9", "max", "bound", "deadline",
];

fn class_row(class: &ClassSummary) -> Vec<String> {
    vec![
        shortened(&class.name, NAME_LIMIT),
        class.arrived.to_string(),
        class.sent.to_string(),
        dropped(class),
        misses(class),
        megabits(class.throughput_bps),
        delay(class, |d| d.min as f64),
        delay(class, |d| d.mean),
        delay(class, |d| d.p50 as f64),
        delay(class, |d| d.p99 as f64),
        delay(class, |d| d.p99_9 as f64),
        largest(class),
        optional(class.bound_ns),
        optional(class.deadline_ns),
    ]
}

const WINDOW_HEADER: [&str; 9] = [
    "class",
    "streams",
    "may lose",
    "packets",
    "lost",
    "windows",
    "violated",
    "longest run",
    "deadlines missed",
];

fn window_row(class: &ClassSummary) -> Option<Vec<String>> {
    let windows = class.windows.as_ref()?;
    Some(vec![
        shortened(&class.name, NAME_LIMIT),
        windows.streams.to_string(),
        windows.loss.clone(),
        windows.packets.to_string(),
        windows.lost.to_string(),
        windows.windows.to_string(),
        violations(windows),
        windows.longest_run.to_string(),
        windows.deadline_misses.to_string(),
    ])
}

/// What a cell says about a class.
type Show = fn(&ClassSummary) -> String;

fn compare_rows(class: &ClassSummary, runs: &[Summary]) -> Vec<Vec<String>> {
    let deadline = class.deadline_ns.map(|limit| format!(" (deadline {})", millis(limit as f64)));
    let tolerance = class.windows.as_ref().map(|windows| format!(" (may lose {})", windows.loss));
    let measures: [(bool, String, Show); 8] = [
        (true, "mean ms".to_owned(), |class| delay(class, |d| d.mean)),
        (true, "p99 ms".to_owned(), |class| delay(class, |d| d.p99 as f64)),
        (true, format!("max ms{}", deadline.as_deref().unwrap_or_default()), largest),
        (deadline.is_some(), "missed".to_owned(), misses),
        (true, "dropped".to_owned(), dropped),
        (tolerance.is_some(), "late or lost".to_owned(), |class| {
            of_windows(class, |windows| windows.lost.to_string())
        }),
        (
            tolerance.is_some(),
            format!("windows violated{}", tolerance.as_deref().unwrap_or_default()),
            |class| of_windows(class, violations),
        ),
        (tolerance.is_some(), "longest run of losses".to_owned(), |class| {
            of_windows(class, |windows| windows.longest_run.to_string())
        }),
    ];
    let of = |run: &Summary, show: Show| {
        let same = run.classes.iter().find(|other| other.name == class.name);
        same.map_or(NOTHING.to_owned(), show)
    };
    let mut rows = Vec::new();
    for (_, measure, show) in measures.into_iter().filter(|(applies, ..)| *applies) {
        let name = if rows.is_empty() { shortened(&class.name, NAME_LIMIT) } else { String::new() };
        let values = runs.iter().map(|run| of(run, show));
        rows.push([name, measure].into_iter().chain(values).collect());
    }
    rows
}

fn of_windows(class: &ClassSummary, show: fn(&WindowSummary) -> String) -> String {
    class.windows.as_ref().map_or(NOTHING.to_owned(), show)
}

fn violations(windows: &WindowSummary) -> String {
    match windows.violations {
        0 => "0".to_owned(),
        violations => format!("{violations}{ALARM}"),
    }
}

fn delay(class: &ClassSummary, value: fn(&DelaySummary) -> f64) -> String {
    class.delay_ns.as_ref().map_or(NOTHING.to_owned(), |delay| millis(value(delay)))
}

fn dropped(class: &ClassSummary) -> String {
    class.dropped.values().sum::<u64>().to_string()
}

fn largest(class: &ClassSummary) -> String {
    let shown = optional(class.delay_ns.map(|delay| delay.max));
    if too_late(class) { format!("{shown}{ALARM}") } else { shown }
}

fn misses(class: &ClassSummary) -> String {
    match (class.deadline_ns, class.deadline_misses) {
        (None, _) => NOTHING.to_owned(),
        (Some(_), 0) => "0".to_owned(),
        (Some(_), misses) => format!("{misses}{ALARM}"),
    }
}

fn optional(ns: Option<u64>) -> String {
    ns.map_or(NOTHING.to_owned(), |ns| millis(ns as f64))
}

/// One column, its cells padded so that alarms do not push digits out of line.
struct Column {
    header: String,
    cells: Vec<String>,
    numeric: bool,
    alarmed: bool,
    width: usize,
}

impl Column {
    fn new(header: &str, rows: &[Vec<String>], at: usize) -> Column {
        let cells: Vec<String> =
            rows.iter().map(|row| row.get(at).cloned().unwrap_or_default()).collect();
        let is_number = |cell: &String| {
            cell.is_empty()
                || cell == NOTHING
                || cell.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        };
        let numeric = at > 0 && cells.iter().all(is_number);
        let alarmed = numeric && cells.iter().any(|cell| cell.ends_with(ALARM));
        let widest = cells.iter().map(|cell| padded(cell, alarmed)).chain([header.to_owned()]);
        let mut measure = Table::new();
        measure.add_rows(widest.map(|cell| [cell]));
        let width =
            measure.column_max_content_widths().first().map_or(0, |width| usize::from(*width));
        Column { header: header.to_owned(), cells, numeric, alarmed, width }
    }

    fn cell(&self, row: usize) -> Cell {
        let text = &self.cells[row];
        let cell = Cell::new(padded(text, self.alarmed));
        if text.ends_with(ALARM) { cell.fg(Color::Red) } else { cell }
    }
}

fn padded(cell: &str, alarmed: bool) -> String {
    if alarmed && !cell.ends_with(ALARM) { format!("{cell} ") } else { cell.to_owned() }
}

/// Cuts columns into parts that fit, each led by the first column.
fn parts(columns: &[Column], width: usize) -> Vec<Vec<&Column>> {
    let Some((lead, rest)) = columns.split_first() else { return Vec::new() };
    let room = width.saturating_sub(lead.width);
    let mut parts = vec![vec![lead]];
    let mut used = 0;
    for column in rest {
        let needs = column.width + GAP;
        if used > 0 && used + needs > room {
            parts.push(vec![lead]);
            used = 0;
        }
        used += needs;
        parts.last_mut().expect("starts with one").push(column);
    }
    parts
}

/// Blank columns between two columns.
const GAP: usize = 2;

fn draw(part: &[&Column], rows: usize) -> String {
    let mut table = Table::new();
    let rule = LineStyle::none().fill('─').junction('─');
    table.load_style(presets::NOTHING.header_separator(rule));
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(
        part.iter().map(|column| padded(&column.header, column.alarmed)).collect::<Vec<_>>(),
    );
    table.add_rows(
        (0..rows)
            .map(|row| Row::from(part.iter().map(|column| column.cell(row)).collect::<Vec<_>>())),
    );
    for (at, (drawn, column)) in table.column_iter_mut().zip(part).enumerate() {
        // The table itself puts one blank between columns.
        drawn.set_padding((if at > 0 { GAP as u16 - 1 } else { 0 }, 0));
        drawn.set_cell_alignment(if column.numeric {
            CellAlignment::Right
        } else {
            CellAlignment::Left
        });
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn numbers_line_up_and_alarms_do_not_push_them() {
        let rows = [["voice", "1.31", "10"], ["a long name", "12.00!", "—"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let expected = "\
class        max ms   bound
───────────────────────────
voice          1.31      10
a long name   12.00!      —";
        assert_eq!(table_within(&["class", "max ms", "bound"], &rows, 80), expected);
    }

    #[test]
    fn a_narrow_terminal_gets_the_table_in_parts() {
        let (summary, _) = sample::run(2, 2);
        let rows: Vec<_> = summary.classes.iter().map(class_row).collect();
        let text = table_within(&CLASS_HEADER, &rows, 40);
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert_eq!(text.matches("rt-0").count(), text.matches("class").count());
        assert_eq!(text.matches("8.000").count(), 4, "{text}");
        assert!(!table_within(&CLASS_HEADER, &rows, 1).is_empty());
    }

    #[test]
    fn a_usual_plan_fits_120_columns() {
        let (mut summary, _) = sample::run(3, 3);
        for class in &mut summary.classes {
            (class.arrived, class.sent) = (250_000, 250_000);
        }
        summary.classes[0].name = "transactions".into();
        let rows: Vec<_> = summary.classes.iter().map(class_row).collect();
        let text = table_within(&CLASS_HEADER, &rows, usize::MAX);
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    }

    #[test]
    fn a_delay_above_its_bound_is_marked() {
        let (mut summary, _) = sample::run(1, 0);
        assert!(!class_table(&summary).contains('!'));
        (summary.classes[0].bound_ns, summary.classes[0].bound_misses) = (Some(7_999_999), 1);
        summary.classes[0].deadline_misses = 3;
        let row = class_row(&summary.classes[0]);
        assert_eq!((row[4].as_str(), row[11].as_str()), ("3!", "8.000!"));
    }

    #[test]
    fn schedulers_stand_side_by_side() {
        let (edf, _) = sample::run(1, 1);
        let mut fifo = edf.clone();
        fifo.scheduler = "fifo".into();
        fifo.classes[1].delay_ns = None;
        let text = compare_table(&[edf, fifo]);
        let mean = text.lines().find(|line| line.starts_with("be-0")).unwrap();
        assert_eq!(
            mean.split_whitespace().collect::<Vec<_>>(),
            ["be-0", "mean", "ms", "2.500", "—"]
        );
        assert_eq!(compare_table(&[]), "");
    }

    #[test]
    fn windows_have_a_table_of_their_own() {
        let (mut summary, _) = sample::run(1, 1);
        assert!(!class_table(&summary).contains("may lose"));
        summary.classes[0].windows = Some(sample::windows(3));
        let text = class_table(&summary);
        let [header, row] = ["may lose", "1/80"]
            .map(|of| text.lines().find(|line| line.contains(of)).unwrap().split_whitespace());
        let expected = ["rt-0", "60", "1/80", "98", "7", "19", "3!", "2", "9"];
        assert_eq!(row.collect::<Vec<_>>(), expected);
        assert_eq!(header.last(), Some("missed"));
        assert_eq!(text.matches("be-0").count(), 1, "that class has no tolerance: {text}");
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    }

    #[test]
    fn windows_stand_side_by_side() {
        let (mut dwcs, _) = sample::run(1, 1);
        dwcs.classes[0].windows = Some(sample::windows(0));
        let mut fifo = dwcs.clone();
        fifo.classes[0].windows = Some(sample::windows(3));
        let text = compare_table(&[fifo, dwcs]);
        let rows = |of: &str| text.lines().filter(|line| line.contains(of)).collect::<Vec<_>>();
        let violated = rows("windows violated");
        assert_eq!(violated.len(), 1, "the other class has no tolerance: {text}");
        let cells: Vec<_> = violated[0].split_whitespace().rev().take(2).collect();
        assert_eq!(cells, ["0", "3!"]);
        assert_eq!(rows("longest run of losses").len(), 1);
        assert_eq!(rows("late or lost").len(), 1);
    }

    #[test]
    fn nothing_at_all_is_a_table_too() {
        let (empty, _) = sample::run(0, 0);
        assert!(class_table(&empty).starts_with("class"));
        assert_eq!(table::<&str>(&[], &[]), "");
    }
}
