//! Tables for the terminal.

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Row, Table, Width,
    presets,
};
use laxity_sim::summary::{ClassSummary, DelaySummary, Summary, WindowSummary};
use unicode_width::UnicodeWidthStr;

use crate::quantity::{NOTHING, TimeUnit, megabits, shortened};

/// Longest class name that is shown whole.
const NAME_LIMIT: usize = 24;

/// Marks a number that breaks a promise.
const ALARM: char = '!';

/// A table of plain text. Columns of numbers are right-aligned. A table wider than the terminal continues below itself, so that no number is ever
/// broken; the first column leads each part.
pub fn table<H: AsRef<str>>(header: &[H], rows: &[Vec<String>]) -> String {
    table_of(header, rows.len(), &|at| rows[at].clone())
}

/// The same of rows that are made when they are looked at, which is several times: of as many classes
/// as a plan may have, the cells of all rows are too much to hold at once.
pub fn table_of<H: AsRef<str>>(
    header: &[H],
    rows: usize,
    row: &dyn Fn(usize) -> Vec<String>,
) -> String {
    table_within(1, header, rows, row, room())
}

/// A table whose rows are known by so many first columns, all of which lead each part.
pub fn table_led<H: AsRef<str>>(leads: usize, header: &[H], rows: &[Vec<String>]) -> String {
    table_within(leads, header, rows.len(), &|at| rows[at].clone(), room())
}

/// The columns of the terminal.
fn room() -> usize {
    let mut width = Table::new();
    width.set_content_arrangement(ContentArrangement::Disabled);
    width.width().map_or(usize::MAX, usize::from)
}

/// Like [`table_of`], for a terminal of `width` columns.
fn table_within<H: AsRef<str>>(
    leads: usize,
    header: &[H],
    rows: usize,
    row: &dyn Fn(usize) -> Vec<String>,
    width: usize,
) -> String {
    let mut columns: Vec<Column> =
        header.iter().enumerate().map(|(at, name)| Column::new(name.as_ref(), at)).collect();
    for at in 0..rows {
        let row = row(at);
        columns.iter_mut().zip(&row).for_each(|(column, cell)| column.measure(cell));
    }
    let mut text = String::new();
    for part in parts(&columns, leads, width) {
        if !text.is_empty() {
            text.push('\n');
        }
        draw(&part, rows, row, &mut text);
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// What a run measured, a class a row. Delays are in ms; `!` marks a broken promise. The windows of
/// classes with a loss tolerance follow in a table of their own.
pub fn class_table(summary: &Summary) -> String {
    let classes = &summary.classes;
    let unit = unit(classes);
    let is_marked = classes.iter().any(|class| class.marked > 0);
    let header =
        with_marks(class_header(unit).to_vec(), DROPPED, is_marked.then(|| MARKED.to_owned()));
    let row = |at: usize| {
        let class: &ClassSummary = &classes[at];
        with_marks(class_row(class, unit), DROPPED, is_marked.then(|| class.marked.to_string()))
    };
    let mut text = table_of(&header, classes.len(), &row);
    let windows: Vec<_> = classes.iter().filter_map(window_row).collect();
    if !windows.is_empty() {
        text += "\n\n";
        text += &table(&WINDOW_HEADER, &windows);
    }
    text
}

/// Several runs of the same classes side by side: a group of rows a class, a column a scheduler.
pub fn compare_table(runs: &[&Summary]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let header: Vec<String> = ["class".to_owned(), "measure".to_owned()]
        .into_iter()
        .chain(runs.iter().map(|run| run.scheduler.clone()))
        .collect();
    let rows: Vec<Vec<String>> =
        (0..first.classes.len()).flat_map(|class| compare_rows(class, runs)).collect();
    table_led(2, &header, &rows)
}

/// The unit of all times that are told of classes.
pub(crate) fn unit<'a>(classes: impl IntoIterator<Item = &'a ClassSummary>) -> TimeUnit {
    let times = |class: &ClassSummary| {
        let delay = class.delay_ns.map(|delay| [delay.min as f64, delay.max as f64]);
        let promises = [class.bound_ns, class.deadline_ns].map(|ns| ns.map(|ns| ns as f64));
        delay.map_or([None; 2], |delay| delay.map(Some)).into_iter().chain(promises)
    };
    TimeUnit::of(classes.into_iter().flat_map(times))
}

/// A row with a cell of marks behind that of drops, which has this place, if any packet was marked.
pub(crate) fn with_marks(
    mut row: Vec<String>,
    dropped: usize,
    marks: Option<String>,
) -> Vec<String> {
    if let Some(marks) = marks {
        row.insert(dropped + 1, marks);
    }
    row
}

/// The head of a column of marks.
pub(crate) const MARKED: &str = "marked";
/// The place of drops in a row of a class.
const DROPPED: usize = 3;

fn class_header(unit: TimeUnit) -> [String; 14] {
    let min = unit.head("min");
    [
        "class", "arrived", "sent", "dropped", "missed", "Mbit/s", &min, "mean", "p50", "p99",
        "p99.9", "max", "bound", "deadline",
    ]
    .map(str::to_owned)
}

fn class_row(class: &ClassSummary, unit: TimeUnit) -> Vec<String> {
    let delay = |value: fn(&DelaySummary) -> f64| unit.cell(class.delay_ns.as_ref().map(value));
    vec![
        shortened(&class.name, NAME_LIMIT),
        class.arrived.to_string(),
        class.sent.to_string(),
        dropped(class),
        misses(class),
        megabits(class.throughput_bps),
        delay(|d| d.min as f64),
        delay(|d| d.mean),
        delay(|d| d.p50 as f64),
        delay(|d| d.p99 as f64),
        delay(|d| d.p99_9 as f64),
        largest(class, unit),
        unit.whole(class.bound_ns),
        unit.whole(class.deadline_ns),
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
type Show = fn(&ClassSummary, TimeUnit) -> String;

fn compare_rows(at: usize, runs: &[&Summary]) -> Vec<Vec<String>> {
    let class = &runs[0].classes[at];
    let unit = unit(runs.iter().filter_map(|run| run.classes.get(at)));
    let deadline =
        class.deadline_ns.map(|_| format!(" (deadline {})", unit.whole(class.deadline_ns)));
    let tolerance = class.windows.as_ref().map(|windows| format!(" (may lose {})", windows.loss));
    let is_marked = runs.iter().filter_map(|run| run.classes.get(at)).any(|class| class.marked > 0);
    let measures: [(bool, String, Show); 9] = [
        (true, unit.head("mean"), |class, unit| unit.cell(class.delay_ns.map(|d| d.mean))),
        (true, unit.head("p99"), |class, unit| unit.whole(class.delay_ns.map(|d| d.p99))),
        (true, unit.head("max") + deadline.as_deref().unwrap_or_default(), largest),
        (deadline.is_some(), "missed".to_owned(), |class, _| misses(class)),
        (true, "dropped".to_owned(), |class, _| dropped(class)),
        (is_marked, MARKED.to_owned(), |class, _| class.marked.to_string()),
        (tolerance.is_some(), "late or lost".to_owned(), |class, _| {
            of_windows(class, |windows| windows.lost.to_string())
        }),
        (
            tolerance.is_some(),
            format!("windows violated{}", tolerance.as_deref().unwrap_or_default()),
            |class, _| of_windows(class, violations),
        ),
        (tolerance.is_some(), "longest run of losses".to_owned(), |class, _| {
            of_windows(class, |windows| windows.longest_run.to_string())
        }),
    ];
    let of = |run: &&Summary, show: Show| {
        run.classes.get(at).map_or(NOTHING.to_owned(), |class| show(class, unit))
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
    class.windows.as_deref().map_or(NOTHING.to_owned(), show)
}

fn violations(windows: &WindowSummary) -> String {
    match windows.violations {
        0 => "0".to_owned(),
        violations => format!("{violations}{ALARM}"),
    }
}

fn dropped(class: &ClassSummary) -> String {
    class.dropped.values().sum::<u64>().to_string()
}

fn largest(class: &ClassSummary, unit: TimeUnit) -> String {
    let shown = unit.whole(class.delay_ns.map(|delay| delay.max));
    if class.is_late() { format!("{shown}{ALARM}") } else { shown }
}

fn misses(class: &ClassSummary) -> String {
    match (class.deadline_ns, class.deadline_misses) {
        (None, _) => NOTHING.to_owned(),
        (Some(_), 0) => "0".to_owned(),
        (Some(_), misses) => format!("{misses}{ALARM}"),
    }
}

/// One column, its cells padded so that alarms do not push digits out of line.
struct Column {
    place: usize,
    header: String,
    numeric: bool,
    alarmed: bool,
    /// The widest cell that is marked, and the widest other one.
    marked: usize,
    unmarked: usize,
}

impl Column {
    fn new(header: &str, place: usize) -> Column {
        Column {
            place,
            header: header.to_owned(),
            numeric: place > 0,
            alarmed: false,
            marked: 0,
            unmarked: header.width(),
        }
    }

    fn measure(&mut self, cell: &str) {
        let is_number = cell.is_empty()
            || cell == NOTHING
            || cell.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        self.numeric &= is_number;
        if cell.ends_with(ALARM) {
            self.alarmed = true;
            self.marked = self.marked.max(cell.width());
        } else {
            self.unmarked = self.unmarked.max(cell.width());
        }
    }

    /// Whether room is kept for marks behind digits.
    fn makes_room(&self) -> bool {
        self.numeric && self.alarmed
    }

    fn width(&self) -> usize {
        self.marked.max(self.unmarked + usize::from(self.makes_room()))
    }

    fn cell(&self, text: &str) -> Cell {
        Cell::new(padded(text, self.makes_room()))
    }
}

/// A text with each number that ends in `!`, as those do that break a promise, between two others, such as
/// instructions for a terminal to paint it.
pub fn with_alarms(text: &str, before: &str, behind: &str) -> String {
    let mut painted = String::with_capacity(text.len());
    for word in text.split_inclusive(char::is_whitespace) {
        let number = word.trim_end();
        if number.ends_with(ALARM) && number.starts_with(|c: char| c.is_ascii_digit()) {
            painted.extend([before, number, behind, &word[number.len()..]]);
        } else {
            painted.push_str(word);
        }
    }
    painted
}

fn padded(cell: &str, alarmed: bool) -> String {
    if alarmed && !cell.ends_with(ALARM) { format!("{cell} ") } else { cell.to_owned() }
}

/// Cuts columns into parts that fit, each led by the first columns.
fn parts(columns: &[Column], leads: usize, width: usize) -> Vec<Vec<&Column>> {
    if columns.is_empty() {
        return Vec::new();
    }
    let (lead, rest) = columns.split_at(leads.min(columns.len()));
    let lead: Vec<&Column> = lead.iter().collect();
    let taken: usize = lead.iter().map(|column| column.width() + GAP).sum();
    let room = width.saturating_sub(taken - GAP);
    let mut parts = vec![lead.clone()];
    let mut used = 0;
    for column in rest {
        let needs = column.width() + GAP;
        if used > 0 && used + needs > room {
            parts.push(lead.clone());
            used = 0;
        }
        used += needs;
        parts.last_mut().expect("starts with one").push(column);
    }
    parts
}

/// Blank columns between two columns.
const GAP: usize = 2;

/// Rows that are drawn at once.
const ROWS_AT_ONCE: usize = 1024;

/// Adds a part of a table to a text, some rows at a time, all in the columns' widths.
fn draw(part: &[&Column], rows: usize, row: &dyn Fn(usize) -> Vec<String>, text: &mut String) {
    for from in (0..rows.max(1)).step_by(ROWS_AT_ONCE) {
        let mut table = Table::new();
        let rule = LineStyle::none().fill('─').junction('─');
        table.load_style(presets::NOTHING.header_separator(rule));
        table.set_content_arrangement(ContentArrangement::Disabled);
        if from == 0 {
            let header = part.iter().map(|column| padded(&column.header, column.makes_room()));
            table.set_header(header.collect::<Vec<_>>());
        }
        table.add_rows((from..rows.min(from + ROWS_AT_ONCE)).map(|at| {
            let row = row(at);
            let cell =
                |column: &&Column| column.cell(row.get(column.place).map_or("", String::as_str));
            Row::from(part.iter().map(cell).collect::<Vec<_>>())
        }));
        for (at, (drawn, column)) in table.column_iter_mut().zip(part).enumerate() {
            // The table itself puts one blank between columns.
            let padding = if at > 0 { GAP - 1 } else { 0 };
            drawn.set_padding((padding as u16, 0));
            let width = u16::try_from(column.width() + padding).unwrap_or(u16::MAX);
            drawn.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
            drawn.set_cell_alignment(if column.numeric {
                CellAlignment::Right
            } else {
                CellAlignment::Left
            });
        }
        for line in table.lines() {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn within<H: AsRef<str>>(header: &[H], rows: &[Vec<String>], width: usize) -> String {
        table_within(1, header, rows.len(), &|at| rows[at].clone(), width)
    }

    #[test]
    fn rows_drawn_apart_stand_in_the_same_columns() {
        let rows: Vec<Vec<String>> = (0..3 * ROWS_AT_ONCE)
            .map(|row| {
                let alarm = if row == 2 * ROWS_AT_ONCE { "!" } else { "" };
                vec![format!("c{row}"), format!("{row}{alarm}"), "wörd".to_owned()]
            })
            .collect();
        let text = within(&["class", "count", "text"], &rows, 80);
        assert_eq!(text.lines().count(), rows.len() + 2);
        let columns = text.lines().filter_map(|line| line.find("wörd"));
        assert_eq!(columns.clone().count(), rows.len());
        assert!(columns.collect::<Vec<_>>().windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn numbers_line_up_and_alarms_do_not_push_them() {
        let rows = [["voice", "1.31", "10"], ["a long name", "12.00!", "—"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let expected = "\
class        max ms   bound
───────────────────────────
voice          1.31      10
a long name   12.00!      —";
        assert_eq!(within(&["class", "max ms", "bound"], &rows, 80), expected);
    }

    #[test]
    fn a_narrow_terminal_gets_the_table_in_parts() {
        let (summary, _) = sample::run(2, 2);
        let rows: Vec<_> =
            summary.classes.iter().map(|class| class_row(class, TimeUnit::MILLIS)).collect();
        let text = within(&class_header(TimeUnit::MILLIS), &rows, 40);
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert_eq!(text.matches("rt-0").count(), text.matches("class").count());
        assert_eq!(text.matches("8.000").count(), 4, "{text}");
        assert!(!within(&class_header(TimeUnit::MILLIS), &rows, 1).is_empty());
    }

    #[test]
    fn a_usual_plan_fits_120_columns() {
        let (mut summary, _) = sample::run(3, 3);
        for class in &mut summary.classes {
            (class.arrived, class.sent) = (250_000, 250_000);
        }
        summary.classes[0].name = "transactions".into();
        let rows: Vec<_> =
            summary.classes.iter().map(|class| class_row(class, TimeUnit::MILLIS)).collect();
        let text = within(&class_header(TimeUnit::MILLIS), &rows, usize::MAX);
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    }

    #[test]
    fn a_delay_above_its_bound_is_marked() {
        let (mut summary, _) = sample::run(1, 0);
        assert!(!class_table(&summary).contains('!'));
        (summary.classes[0].bound_ns, summary.classes[0].bound_misses) = (Some(7_999_999), 1);
        summary.classes[0].deadline_misses = 3;
        let row = class_row(&summary.classes[0], TimeUnit::MILLIS);
        assert_eq!((row[4].as_str(), row[11].as_str()), ("3!", "8.000!"));
    }

    #[test]
    fn schedulers_stand_side_by_side() {
        let (edf, _) = sample::run(1, 1);
        let mut fifo = edf.clone();
        fifo.scheduler = "fifo".into();
        fifo.classes[1].delay_ns = None;
        let text = compare_table(&[&edf, &fifo]);
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
        let text = compare_table(&[&fifo, &dwcs]);
        let rows = |of: &str| text.lines().filter(|line| line.contains(of)).collect::<Vec<_>>();
        let violated = rows("windows violated");
        assert_eq!(violated.len(), 1, "the other class has no tolerance: {text}");
        let cells: Vec<_> = violated[0].split_whitespace().rev().take(2).collect();
        assert_eq!(cells, ["0", "3!"]);
        assert_eq!(rows("longest run of losses").len(), 1);
        assert_eq!(rows("late or lost").len(), 1);
    }

    #[test]
    fn marks_have_a_column_where_there_are_any() {
        let (mut summary, series) = sample::run(1, 1);
        let page = |summary: &Summary| {
            let runs = [sample::judged(summary)];
            crate::html::compare_html(&runs, std::slice::from_ref(&series))
        };
        assert!(!class_table(&summary).contains("marked"));
        assert!(!compare_table(&[&summary]).contains("marked"));
        assert!(!page(&summary).contains("Marked"));
        summary.classes[1].marked = 17;
        let text = class_table(&summary);
        let of = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().nth(4).unwrap().to_owned()
        };
        assert_eq!(["class", "rt-0", "be-0"].map(of), ["marked", "0", "17"], "{text}");
        let compared = compare_table(&[&summary]);
        assert_eq!(compared.matches("marked").count(), 1, "{compared}");
        assert!(page(&summary).contains("Marked"));
    }

    #[test]
    fn nothing_at_all_is_a_table_too() {
        let (empty, _) = sample::run(0, 0);
        assert!(class_table(&empty).starts_with("class"));
        assert_eq!(table::<&str>(&[], &[]), "");
    }
}
