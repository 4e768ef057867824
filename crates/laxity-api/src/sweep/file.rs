//! What files that ask about a plan have in common: the plan, seeds, a duration, ranges.

use std::ops::Range;

use laxity::units::Nanos;
use laxity_plan::PlanError;
use laxity_plan::edit;
use laxity_plan::error::Fault;
use toml_edit::{Document, Item, Table, TableLike, Value};

use super::study::{MOST_RUNS, are_seeds};

/// A file of TOML that is being read.
pub(crate) struct File<'a> {
    text: &'a str,
    /// What it holds.
    pub table: &'a Table,
}

impl File<'_> {
    /// Reads a text, which is called `name` in errors.
    pub(crate) fn read<T>(
        text: &str,
        name: &str,
        read: impl FnOnce(&File<'_>) -> Result<T, Fault>,
    ) -> Result<T, PlanError> {
        let failed = |fault| PlanError::new(name, text, fault);
        let document = Document::parse(text)
            .map_err(|error| failed(Fault::new(error.span(), error.message().to_string())))?;
        read(&File { text, table: document.as_table() }).map_err(failed)
    }

    /// Refuses keys other than these, and other versions; `what` the file is.
    pub(crate) fn knows(&self, what: &str, keys: &[&str]) -> Result<(), Fault> {
        for (key, item) in self.table {
            if !keys.contains(&key) {
                let span = self.table.key(key).and_then(toml_edit::Key::span);
                return Err(unknown(key, span.or(item.span()), keys));
            }
        }
        match self.table.get("version") {
            Some(version) if version.as_integer() == Some(1) => Ok(()),
            other => {
                let at = other.and_then(Item::span);
                Err(Fault::new(at, format!("{what} begins with `version = 1`")))
            }
        }
    }

    /// The file of the plan.
    pub(crate) fn plan(&self) -> Result<&str, Fault> {
        let plan = self.table.get("plan");
        plan.and_then(Item::as_str).ok_or_else(|| {
            let at = plan.and_then(Item::span);
            Fault::new(at, "`plan` names the file of the plan, as `plan = \"uplink.toml\"`")
        })
    }

    /// How long models send.
    pub(crate) fn duration(&self) -> Result<Option<Nanos>, Fault> {
        let Some(item) = self.table.get("duration") else { return Ok(None) };
        let time = item.as_str().ok_or("a time in quotes, as \"10s\", is needed".to_owned());
        match time.and_then(|text| text.parse::<Nanos>().map_err(|error| error.to_string())) {
            Ok(Nanos::ZERO) => {
                Err(Fault::new(item.span(), "a duration of zero simulates nothing: give more"))
            }
            read => read.map(Some).map_err(|error| Fault::new(item.span(), error)),
        }
    }

    /// `seeds = 20` are those from 1 to 20; a list names them; without either there is 1.
    pub(crate) fn seeds(&self) -> Result<Vec<u64>, Fault> {
        let Some(item) = self.table.get("seeds") else { return Ok(vec![1]) };
        let wrong = || {
            let message = format!(
                "seeds are a number of them, from 1 to {MOST_RUNS}, or a list of different ones"
            );
            Fault::new(item.span(), message)
        };
        if let Some(count) = item.as_integer() {
            let count = u64::try_from(count).ok().filter(|count| (1..=MOST_RUNS).contains(count));
            return count.map(|count| (1..=count).collect()).ok_or_else(wrong);
        }
        let list = item.as_array().ok_or_else(wrong)?.iter();
        let seeds = list.map(|seed| u64::try_from(seed.as_integer()?).ok());
        let seeds: Vec<u64> = seeds.collect::<Option<_>>().ok_or_else(wrong)?;
        if are_seeds(&seeds) { Ok(seeds) } else { Err(wrong()) }
    }

    /// The tables of a key, each with its place; `None` if it is something else.
    pub(crate) fn tables(&self, key: &str) -> Option<Vec<PlacedTable<'_>>> {
        match self.table.get(key) {
            None => Some(Vec::new()),
            Some(Item::ArrayOfTables(list)) => {
                Some(list.iter().map(|table| (table as _, table.span())).collect())
            }
            Some(Item::Value(Value::Array(list))) => list
                .iter()
                .map(|value| Some((value.as_inline_table()? as _, value.span())))
                .collect(),
            Some(_) => None,
        }
    }

    /// What `read` makes of the range of a key: its ends as they are written, and whether
    /// logarithms count.
    pub(crate) fn range<T>(
        &self,
        key: &str,
        item: &Item,
        read: impl FnOnce(&str, &str, bool) -> Option<T>,
    ) -> Result<T, Fault> {
        let table = item.as_table_like();
        let word = |name| table.and_then(|table| table.get(name)?.as_value());
        let (from, to) = (word("from"), word("to"));
        let (from, to) = (from.map(|end| self.source(end)), to.map(|end| self.source(end)));
        let is_log = word("log").and_then(Value::as_bool).unwrap_or(false);
        let range = from.zip(to).and_then(|(from, to)| read(&from, &to, is_log));
        range.ok_or_else(|| {
            let help = "as { from = \"8mbit\", to = \"20mbit\", log = true }: two numbers of one unit, the \
                        first below the second and with `log` above 0";
            Fault::new(item.span(), format!("`{key}` takes a range here")).help(help)
        })
    }

    /// A value as it is written.
    pub(crate) fn source(&self, value: &Value) -> String {
        value.span().and_then(|at| self.text.get(at)).unwrap_or_default().to_owned()
    }
}

/// A table of a file, and its place in the text.
type PlacedTable<'a> = (&'a dyn TableLike, Option<Range<usize>>);

/// A key that is none of those accepted.
pub(crate) fn unknown(key: &str, span: Option<Range<usize>>, accepted: &[&str]) -> Fault {
    let accepted: Vec<String> = accepted.iter().map(|key| format!("`{key}`")).collect();
    Fault::new(span, format!("unknown key `{key}`"))
        .help(format!("accepted: {}", accepted.join(", ")))
}

/// The keys of a table.
pub(crate) fn pairs(item: &Item) -> Result<toml_edit::Iter<'_>, Fault> {
    let table = item.as_table_like().ok_or_else(|| Fault::new(item.span(), "a table is needed"))?;
    Ok(table.iter())
}

/// The fault of a key that cannot be set, at a place.
pub(crate) fn at(span: Option<Range<usize>>) -> impl FnOnce(edit::EditError) -> Fault {
    move |error| Fault::new(span, error.to_string())
}
