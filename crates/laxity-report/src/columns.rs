//! Tables of results. One list of columns says what terminals and pages show.

use std::collections::BTreeMap;

use maud::{Markup, html};

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
        Column { head, cell, group: "", limit: None, is_alarming: |_| false, counts: None }
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
        if (self.is_alarming)(row) { shown + "!" } else { shown }
    }

    /// A cell for a page.
    fn on_page(&self, row: &T, unit: TimeUnit) -> Markup {
        let shown = self.cell.shown(row, unit, count);
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
    fn has_value(&self, row: &T) -> bool {
        match self {
            Cell::Count(value) => value(row).is_some(),
            Cell::Time(value) => value(row).is_some(),
            Cell::Text(value) => value(row).is_some(),
            Cell::Reasons(_) => true,
        }
    }

    fn shown(&self, row: &T, unit: TimeUnit, count: fn(u64) -> String) -> String {
        let shown = match self {
            Cell::Count(value) => value(row).map(count),
            Cell::Time(value) => value(row).map(|ns| unit.cell(ns)),
            Cell::Text(value) => value(row),
            Cell::Reasons(value) => Some(count(value(row).values().sum())),
        };
        shown.unwrap_or(NOTHING.to_owned())
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
        Results { columns, rows, unit, name, place: None }
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
            let name = shortened((self.name)(row), NAME_LIMIT);
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
                tbody { @for (at, row) in self.rows.iter().enumerate() { tr {
                    th scope="row" {
                        (swatch(self.place.map_or(at, |place| place(row)))) ((self.name)(row))
                    }
                    (self.page_cells(row))
                } } }
            } }
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

    /// The heads for a terminal. The first column of times names the unit of all.
    fn heads(&self) -> impl Iterator<Item = String> {
        let first_time = self.columns.iter().position(Column::is_time);
        self.columns.iter().enumerate().map(move |(at, column)| {
            if first_time == Some(at) {
                self.unit.head(column.head)
            } else {
                column.head.to_owned()
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

/// The same figures of several runs side by side.
pub struct Comparison<T> {
    /// The columns, each a measure.
    pub measures: Vec<Column<T>>,
    /// What is compared, such as a class, by its name in each run; `None` where a run has it not.
    pub subjects: Vec<(String, Vec<Option<T>>)>,
    /// The runs, by their schedulers.
    pub runs: Vec<String>,
}

impl<T> Comparison<T> {
    /// The comparison for a terminal: a group of rows a subject, a column a run.
    pub fn text(&self) -> String {
        let header: Vec<_> = ["class", "measure"]
            .map(str::to_owned)
            .into_iter()
            .chain(self.runs.iter().cloned())
            .collect();
        let rows: Vec<_> = self.subjects.iter().flat_map(|subject| self.rows(subject)).collect();
        if self.runs.is_empty() { String::new() } else { table_led(2, &header, &rows) }
    }

    fn rows(&self, (name, runs): &(String, Vec<Option<T>>)) -> Vec<Vec<String>> {
        let present: Vec<&T> = runs.iter().flatten().collect();
        let is_shown = |column: &&Column<T>| column.is_shown(present.iter().copied());
        let measures: Vec<_> = self.measures.iter().filter(is_shown).collect();
        let times = measures.iter().flat_map(|column| {
            let limit = column.limit.as_ref().map(|limit| &limit.cell);
            let cells = std::iter::once(&column.cell).chain(limit);
            cells.flat_map(|cell| present.iter().map(move |run| cell.time(run)))
        });
        let unit = TimeUnit::new(times);
        let row = |(at, column): (usize, &&Column<T>)| {
            let name = if at == 0 { shortened(name, NAME_LIMIT) } else { String::new() };
            let mut head = column.head.to_owned();
            if column.is_time() {
                head = unit.head(&head);
            }
            let limit = column.limit.as_ref().and_then(|limit| {
                let run = present.iter().find(|run| limit.cell.has_value(run))?;
                Some(format!(" ({} {})", limit.word, limit.cell.shown(run, unit, count)))
            });
            head += &limit.unwrap_or_default();
            let shown = |run: &Option<T>| {
                run.as_ref().map_or(NOTHING.to_owned(), |run| column.shown(run, unit))
            };
            [name, head].into_iter().chain(runs.iter().map(shown)).collect()
        };
        measures.iter().enumerate().map(row).collect()
    }

    /// The comparison for a page: a group of rows a subject, a row a run.
    pub fn page(&self) -> Markup {
        let all = || self.subjects.iter().flat_map(|(_, runs)| runs.iter().flatten());
        let measures: Vec<_> =
            self.measures.iter().filter(|column| column.is_shown(all())).collect();
        let times = measures.iter().flat_map(|column| all().map(|run| column.cell.time(run)));
        let unit = TimeUnit::new(times);
        let head = |column: &Column<T>| {
            let head = capitalised(column.head);
            if column.is_time() { format!("{head}, {}", unit.name) } else { head }
        };
        html! {
            div.wide { table.grouped {
                thead { tr {
                    th { "Scheduler" }
                    @for column in &measures { th.number { (head(column)) } }
                } }
                @for (name, runs) in &self.subjects { tbody {
                    tr.head { th scope="rowgroup" colspan=(measures.len() + 1) { span { (name) } } }
                    @for (at, (run, scheduler)) in runs.iter().zip(&self.runs).enumerate() { tr {
                        th scope="row" { (swatch(at)) (scheduler) }
                        @for column in &measures {
                            @match run {
                                Some(run) => (column.on_page(run, unit)),
                                None => td.number { (NOTHING) },
                            }
                        }
                    } }
                } }
            } }
        }
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
