//! Tables of results. One list of columns says what terminals and pages show.

use std::collections::BTreeMap;

mod comparison;

use maud::{Markup, html};

pub use comparison::Comparison;

use crate::chart::{self, Style};
use crate::quantity::{NOTHING, TimeUnit, count, shortened};
use crate::table::{table_led, table_of};

/// Longest name that is shown whole on a terminal.
const NAME_LIMIT: usize = 24;

/// A column of a table whose rows are `T`.
pub struct Column<T> {
    head: &'static str,
    cell: Cell<T>,
    group: &'static str,
    limit: Option<Limit<T>>,
    is_alarming: fn(&T) -> bool,
    counts: Option<fn(&T) -> bool>,
    missing: fn(&T) -> &'static str,
    is_bare: bool,
}

/// What a cell says about a row.
enum Cell<T> {
    Count(fn(&T) -> Option<u64>),
    /// In ns.
    Time(fn(&T) -> Option<f64>),
    Text(fn(&T) -> Option<String>),
    /// Packets by reason.
    Reasons(fn(&T) -> &BTreeMap<&'static str, u64>),
}

/// What the values of a column are held to, and the word for it.
struct Limit<T> {
    word: &'static str,
    cell: Cell<T>,
}

impl<T> Column<T> {
    const fn new(head: &'static str, cell: Cell<T>) -> Self {
        Column {
            head,
            cell,
            group: "",
            limit: None,
            is_alarming: |_| false,
            counts: None,
            missing: |_| NOTHING,
            is_bare: false,
        }
    }

    /// A column of whole numbers.
    pub const fn count(head: &'static str, value: fn(&T) -> Option<u64>) -> Self {
        Column::new(head, Cell::Count(value))
    }

    /// A column of times in ns, shown in the unit of the table.
    pub const fn time(head: &'static str, value: fn(&T) -> Option<f64>) -> Self {
        Column::new(head, Cell::Time(value))
    }

    /// A column of what is shown as it is.
    pub const fn text(head: &'static str, value: fn(&T) -> Option<String>) -> Self {
        Column::new(head, Cell::Text(value))
    }

    /// A column of packets whose reasons a page shows under the pointer.
    pub const fn reasons(
        head: &'static str,
        value: fn(&T) -> &BTreeMap<&'static str, u64>,
    ) -> Self {
        Column::new(head, Cell::Reasons(value))
    }

    /// The column below a head that it shares with its neighbours on pages.
    pub const fn below(mut self, group: &'static str) -> Self {
        self.group = group;
        self
    }

    /// The column with a mark on values that break a promise.
    pub const fn alarming(mut self, is_alarming: fn(&T) -> bool) -> Self {
        self.is_alarming = is_alarming;
        self
    }

    /// The column, only in tables with a row that counts for it.
    pub const fn if_any(mut self, counts: fn(&T) -> bool) -> Self {
        self.counts = Some(counts);
        self
    }

    /// The column with this text in a row without a value.
    pub const fn or(mut self, missing: fn(&T) -> &'static str) -> Self {
        self.missing = missing;
        self
    }

    /// The column of times with a head that does not name their unit.
    pub const fn bare(mut self) -> Self {
        self.is_bare = true;
        self
    }

    fn is_shown<'a>(&self, mut rows: impl Iterator<Item = &'a T>) -> bool
    where
        T: 'a,
    {
        self.counts.is_none_or(|counts| rows.any(counts))
    }

    /// The column with the time that its values are held to. Comparisons show it beside the head.
    pub const fn within(mut self, word: &'static str, limit: fn(&T) -> Option<f64>) -> Self {
        self.limit = Some(Limit { word, cell: Cell::Time(limit) });
        self
    }

    /// The column with another limit of its values.
    pub const fn held_to(mut self, word: &'static str, limit: fn(&T) -> Option<String>) -> Self {
        self.limit = Some(Limit { word, cell: Cell::Text(limit) });
        self
    }

    fn is_time(&self) -> bool {
        matches!(self.cell, Cell::Time(_))
    }

    /// A cell for a terminal.
    fn shown(&self, row: &T, unit: TimeUnit) -> String {
        let shown = self.cell.shown(row, unit, |count| count.to_string());
        let shown = shown.unwrap_or_else(|| (self.missing)(row).to_owned());
        if (self.is_alarming)(row) { shown + "!" } else { shown }
    }

    /// A cell for a page.
    fn on_page(&self, row: &T, unit: TimeUnit) -> Markup {
        let shown =
            self.cell.shown(row, unit, count).unwrap_or_else(|| (self.missing)(row).to_owned());
        let reasons: Vec<String> = match self.cell {
            Cell::Reasons(value) => {
                let reasons = value(row).iter();
                reasons.map(|(reason, packets)| format!("{reason}: {}", count(*packets))).collect()
            }
            _ => Vec::new(),
        };
        html! {
            td.number.alarm[(self.is_alarming)(row)] {
                @if reasons.is_empty() { (shown) } @else { abbr title=(reasons.join(", ")) { (shown) } }
            }
        }
    }
}

impl<T> Cell<T> {
    /// What is shown of a row, if it has a value.
    fn shown(&self, row: &T, unit: TimeUnit, count: fn(u64) -> String) -> Option<String> {
        match self {
            Cell::Count(value) => value(row).map(count),
            Cell::Time(value) => value(row).map(|ns| unit.cell(ns)),
            Cell::Text(value) => value(row),
            Cell::Reasons(value) => Some(count(value(row).values().sum())),
        }
    }

    fn time(&self, row: &T) -> Option<f64> {
        match self {
            Cell::Time(value) => value(row),
            Cell::Count(_) | Cell::Text(_) | Cell::Reasons(_) => None,
        }
    }
}

/// A table of results: the columns that say anything, its rows, and the unit of its times.
pub struct Results<T> {
    columns: Vec<Column<T>>,
    rows: Vec<T>,
    unit: TimeUnit,
    name: fn(&T) -> &str,
    place: Option<fn(&T) -> usize>,
    heads: Heads,
    /// The levels of rows whose names are shown whole.
    level: Option<fn(&T) -> usize>,
    is_alarming: Option<fn(&T) -> bool>,
}

/// Which heads of times name their unit on a terminal, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heads {
    /// The first: `mean ms`, `max`.
    First,
    /// All: `mean ms`, `max ms`.
    All,
    /// All, in brackets: `mean [ms]`, `max [ms]`.
    Bracketed,
}

impl<T> Results<T> {
    /// A table of these rows. `name` gives the name of each row.
    pub fn new(
        columns: impl IntoIterator<Item = Column<T>>,
        rows: impl IntoIterator<Item = T>,
        name: fn(&T) -> &str,
    ) -> Self {
        let rows: Vec<_> = rows.into_iter().collect();
        let columns = columns.into_iter().filter(|column| column.is_shown(rows.iter()));
        let columns: Vec<_> = columns.collect();
        let times = columns.iter().flat_map(|column| rows.iter().map(|row| column.cell.time(row)));
        let unit = TimeUnit::new(times);
        let (place, level, is_alarming) = (None, None, None);
        Results { columns, rows, unit, name, place, heads: Heads::First, level, is_alarming }
    }

    /// The table with other heads of times on a terminal.
    pub fn headed(mut self, heads: Heads) -> Self {
        self.heads = heads;
        self
    }

    /// The table with times in this unit.
    pub fn in_unit(mut self, unit: TimeUnit) -> Self {
        self.unit = unit;
        self
    }

    /// The table with names that a terminal shows whole, each indented by its level.
    pub fn with_whole_names(mut self, level: fn(&T) -> usize) -> Self {
        self.level = Some(level);
        self
    }

    /// The table with rows that a page marks.
    pub fn alarming(mut self, is_alarming: fn(&T) -> bool) -> Self {
        self.is_alarming = Some(is_alarming);
        self
    }

    /// The table with rows that are some of those that figures show: their places there, for their
    /// colours.
    pub fn placed(mut self, place: fn(&T) -> usize) -> Self {
        self.place = Some(place);
        self
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table for a terminal, with this head of the names.
    pub fn text(&self, head: &str) -> String {
        let header: Vec<_> = std::iter::once(head.to_owned()).chain(self.heads()).collect();
        let row = |at: usize| {
            let row = &self.rows[at];
            let name = (self.name)(row);
            let name = match self.level {
                Some(level) => "  ".repeat(level(row)) + name,
                None => shortened(name, NAME_LIMIT),
            };
            std::iter::once(name).chain(self.cells(row)).collect()
        };
        table_of(&header, self.rows.len(), &row)
    }

    /// The table for a terminal with groups of rows. `group` names the group that begins at a row,
    /// if one does, and `head` are the heads of groups and names.
    pub fn grouped_text(&self, head: [&str; 2], group: impl Fn(usize) -> Option<String>) -> String {
        let header: Vec<_> = head.map(str::to_owned).into_iter().chain(self.heads()).collect();
        let row = |(at, row): (usize, &T)| {
            let lead = group(at).map_or(String::new(), |name| shortened(&name, NAME_LIMIT));
            let name = shortened((self.name)(row), NAME_LIMIT);
            [lead, name].into_iter().chain(self.cells(row)).collect()
        };
        table_led(2, &header, &self.rows.iter().enumerate().map(row).collect::<Vec<_>>())
    }

    /// The table for a page, with this head of the names. Each name has the colour of its place.
    pub fn page(&self, head: &str) -> Markup {
        html! {
            div.wide { table {
                (self.page_head(head))
                tbody { @for (at, row) in self.rows.iter().enumerate() {
                    @match self.is_alarming {
                        Some(is_alarming) => tr.alarm[is_alarming(row)] { (self.page_row(at, row)) },
                        None => tr { (self.page_row(at, row)) },
                    }
                } }
            } }
        }
    }

    fn page_row(&self, at: usize, row: &T) -> Markup {
        html! {
            th scope="row" {
                (swatch(self.place.map_or(at, |place| place(row))))
                @if let Some(level) = self.level { ("\u{2003}".repeat(level(row))) }
                ((self.name)(row))
            }
            (self.page_cells(row))
        }
    }

    /// The table for a page in groups of rows, each below a head: the number of its rows, and what
    /// the head says.
    pub fn grouped_page(&self, head: &str, groups: &[(usize, Markup)]) -> Markup {
        let mut rest = &self.rows[..];
        let mut take = |count: usize| {
            let (rows, others) = rest.split_at(count);
            rest = others;
            rows
        };
        html! {
            div.wide { table.grouped {
                (self.page_head(head))
                @for (count, of_group) in groups { tbody {
                    tr.head { th scope="rowgroup" colspan=(self.columns.len() + 1) { span { (of_group) } } }
                    @for row in take(*count) { tr { th scope="row" { ((self.name)(row)) } (self.page_cells(row)) } }
                } }
            } }
        }
    }

    /// The heads for a terminal.
    fn heads(&self) -> impl Iterator<Item = String> {
        let first_time = self.columns.iter().position(Column::is_time);
        self.columns.iter().enumerate().map(move |(at, column)| {
            let names_unit = match self.heads {
                Heads::First => first_time == Some(at),
                Heads::All | Heads::Bracketed => column.is_time() && !column.is_bare,
            };
            match (names_unit, self.heads) {
                (false, _) => column.head.to_owned(),
                (true, Heads::First | Heads::All) => self.unit.head(column.head),
                (true, Heads::Bracketed) => self.unit.bracketed(column.head),
            }
        })
    }

    fn cells(&self, row: &T) -> impl Iterator<Item = String> {
        self.columns.iter().map(move |column| column.shown(row, self.unit))
    }

    /// The head for a page, in two rows where columns share one.
    fn page_head(&self, head: &str) -> Markup {
        let groups: Vec<&[Column<T>]> =
            self.columns.chunk_by(|a, b| !a.group.is_empty() && a.group == b.group).collect();
        let is_grouped = groups.iter().any(|group| !group[0].group.is_empty());
        let rows = is_grouped.then_some("2");
        html! {
            thead {
                tr {
                    th rowspan=[rows] { (head) }
                    @for group in &groups {
                        @if group[0].group.is_empty() {
                            th.number rowspan=[rows] { (self.with_unit(&capitalised(group[0].head), &group[0])) }
                        } @else {
                            th.group colspan=(group.len()) { (self.with_unit(group[0].group, &group[0])) }
                        }
                    }
                }
                @if is_grouped {
                    tr { @for column in self.columns.iter().filter(|column| !column.group.is_empty()) {
                        th.number { (column.head) }
                    } }
                }
            }
        }
    }

    fn page_cells(&self, row: &T) -> Markup {
        html! { @for column in &self.columns { (column.on_page(row, self.unit)) } }
    }

    fn with_unit(&self, head: &str, column: &Column<T>) -> String {
        if column.is_time() { format!("{head}, {}", self.unit.name) } else { head.to_owned() }
    }
}

/// The head of a column that stands alone on a page. Percentiles keep their form.
fn capitalised(head: &str) -> String {
    let mut letters = head.chars();
    if head.starts_with('p') && head[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return head.to_owned();
    }
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The colour that a class or a scheduler has in figures, by its place.
pub(crate) fn swatch(at: usize) -> Markup {
    chart::swatch(Style::new(at))
}
