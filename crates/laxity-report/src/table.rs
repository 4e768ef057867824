//! Tables for the terminal.

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Row, Table, Width,
    presets,
};
use unicode_width::UnicodeWidthStr;

use crate::quantity::NOTHING;

/// Marks a number that breaks a promise.
const ALARM: char = '!';

/// A table of plain text. Columns of numbers are right-aligned. A table wider than the terminal
/// continues below itself, so that no number is ever broken; the first column leads each part.
pub fn table<H: AsRef<str>>(header: &[H], rows: &[Vec<String>]) -> String {
    table_of(header, rows.len(), &|at| rows[at].clone())
}

/// The same of rows that are made when they are looked at, which is several times: of as many
/// classes as a plan may have, the cells of all rows are too much to hold at once.
pub fn table_of<H: AsRef<str>>(
    header: &[H],
    rows: usize,
    row: &dyn Fn(usize) -> Vec<String>,
) -> String {
    table_within(1, header, rows, row, room())
}

/// A table whose first `leads` columns name its rows. A table too wide for the terminal is printed
/// in parts, each with these columns first.
pub fn table_led<H: AsRef<str>>(leads: usize, header: &[H], rows: &[Vec<String>]) -> String {
    table_within(leads, header, rows.len(), &|at| rows[at].clone(), room())
}

/// The columns of the terminal.
fn room() -> usize {
    let mut width = Table::new();
    width.set_content_arrangement(ContentArrangement::Disabled);
    columns(width.width())
}

/// A terminal that does not know its size, as one of a serial line or a container, says that it has
/// no columns: it gets whole tables, as a file does.
fn columns(said: Option<u16>) -> usize {
    said.filter(|said| *said > 0).map_or(usize::MAX, usize::from)
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

/// A text with each number that ends in `!`, as those do that break a promise, between two others,
/// such as instructions for a terminal to paint it.
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
        let header: Vec<String> = (0..14).map(|at| format!("column-{at}")).collect();
        let row = |name: &str| {
            let numbers = (1..14).map(|at| format!("{at}.000"));
            std::iter::once(name.to_owned()).chain(numbers).collect()
        };
        let rows: Vec<Vec<String>> = vec![row("voice"), row("web")];
        let text = within(&header, &rows, 40);
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert_eq!(text.matches("voice").count(), text.matches("column-0").count());
        assert_eq!(text.matches("8.000").count(), 2, "{text}");
        assert!(!within(&header, &rows, 1).is_empty());
    }

    #[test]
    fn a_terminal_without_columns_gets_whole_tables() {
        assert_eq!([None, Some(0), Some(80)].map(columns), [usize::MAX, usize::MAX, 80]);
    }

    #[test]
    fn nothing_at_all_is_a_table_too() {
        assert_eq!(table::<&str>(&[], &[]), "");
    }
}
