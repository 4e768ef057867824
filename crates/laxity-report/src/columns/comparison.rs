//! The figures of several runs side by side, for a terminal and for a page.

use laxity_sim::summary::Summary;
use maud::{Markup, html};

use super::{Column, NAME_LIMIT, capitalised, swatch};
use crate::quantity::{NOTHING, TimeUnit, count, shortened};
use crate::table::table_led;

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
    /// Compares the rows of the first run with those of the same names in all runs. `rows` are
    /// those of a run.
    pub(crate) fn new<'a, R: Iterator<Item = T>>(
        measures: Vec<Column<T>>,
        runs: &[&'a Summary],
        rows: impl Fn(&'a Summary) -> R,
        name: fn(&T) -> &str,
    ) -> Self {
        let names = runs.first().into_iter().flat_map(|run| rows(run));
        let subjects = names.map(|first| {
            let same = |run: &&'a Summary| rows(run).find(|row| name(row) == name(&first));
            (name(&first).to_owned(), runs.iter().map(same).collect())
        });
        let subjects = subjects.collect();
        Comparison {
            measures,
            subjects,
            runs: runs.iter().map(|run| run.scheduler.clone()).collect(),
        }
    }

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
                let shown = present.iter().find_map(|run| limit.cell.shown(run, unit, count))?;
                Some(format!(" ({} {shown})", limit.word))
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
