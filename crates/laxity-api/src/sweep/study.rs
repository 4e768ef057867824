//! `STUDY.toml`: a plan, what is varied in it, and under which seeds.

use std::path::{Path, PathBuf};

use laxity::units::Nanos;
use laxity_plan::edit::{self, Draft};
use laxity_plan::error::Fault;
use laxity_plan::{Plan, PlanError};
use toml_edit::{Document, Item, Table, TableLike, Value};

use super::Error;
use super::space::{Axis, Range, Space};
use super::store::plain;

/// A plan, the values that some of its keys take, and the seeds that every combination is run with.
#[derive(Clone, Debug)]
pub struct Study {
    /// The plan's path.
    pub plan: PathBuf,
    /// The combinations.
    pub space: Space,
    /// The seeds, each once.
    pub seeds: Vec<u64>,
    /// How long models send, if the plan's own time does not count.
    pub duration: Option<Nanos>,
    draft: Draft,
    /// From where recordings are looked for.
    folder: PathBuf,
}

/// Whether it is a key by which plans are put under another discipline, whatever the settings of the one that they have.
pub fn is_scheduler(key: &str) -> bool {
    matches!(key, "scheduler" | "scheduler.kind")
}

/// A study has no more runs.
pub const MOST_RUNS: u64 = 1_000_000;

impl Study {
    /// Reads a study, and the plan that it names, whose path counts from the study's folder.
    ///
    /// # Errors
    /// If one cannot be read, with its place.
    pub fn read(path: &Path) -> Result<Study, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::Io { path: path.to_path_buf(), error })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Study::parse(&text, &path.display().to_string(), folder)
    }

    /// The same from its text.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn parse(text: &str, name: &str, folder: &Path) -> Result<Study, Error> {
        let failed = |fault| PlanError::new(name, text, fault);
        let document = Document::parse(text)
            .map_err(|error| failed(Fault::new(error.span(), error.message().to_string())))?;
        let raw = Raw { text, table: document.as_table() };
        let file = raw.plan().map_err(failed)?;
        let (space, seeds) =
            raw.space().and_then(|space| Ok((space, raw.seeds()?))).map_err(failed)?;
        few_enough(&space, &seeds).map_err(|message| failed(Fault::new(None, message)))?;
        let duration = raw.duration().map_err(failed)?;
        let plan = folder.join(file);
        let plan_text = std::fs::read_to_string(&plan)
            .map_err(|error| Error::Io { path: plan.clone(), error })?;
        let draft = Draft::parse(&plan_text, &plan.display().to_string())?;
        let folder = plan.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Study { plan, space, seeds, duration, draft, folder })
    }

    /// A study of a plan's text, which is called `plan` in errors and whose recordings are looked for from `folder`.
    /// Its values are those of the space, each seed counts once.
    ///
    /// # Errors
    /// If it is no TOML, there are no seeds or one twice, or too many runs.
    pub fn of(
        plan: PathBuf,
        folder: PathBuf,
        text: &str,
        space: Space,
        seeds: Vec<u64>,
        duration: Option<Nanos>,
    ) -> Result<Study, Error> {
        if !are_seeds(&seeds) {
            return Err(Error::Question("seeds are different ones, at least one".into()));
        }
        few_enough(&space, &seeds).map_err(Error::Question)?;
        let draft = Draft::parse(text, &plan.display().to_string())?;
        Ok(Study { plan, space, seeds, duration, draft, folder })
    }

    /// The plan with the values of a combination, and its text.
    ///
    /// # Errors
    /// If the plan has no such keys, or is none with them.
    pub fn plan_at(&self, point: &[Option<String>]) -> Result<(Plan, Draft), Error> {
        let mut draft = self.draft.clone();
        let mut scheduler = None;
        for (key, value) in self.space.keys.iter().zip(point) {
            let Some(value) = value else { continue };
            if is_scheduler(&key.to_string()) {
                scheduler = Some(plain(value));
            } else {
                draft.set(key, value)?;
            }
        }
        let name = format!("{}{}", self.plan.display(), self.with(point));
        let plan = Plan::parse(&draft.text(), &name, &self.folder)?;
        Ok(match scheduler {
            Some(scheduler) => (plan.under(scheduler)?, draft),
            None => (plan, draft),
        })
    }

    /// The values of a combination, in words.
    pub fn with(&self, point: &[Option<String>]) -> String {
        let pairs = self.space.keys.iter().zip(point);
        let words: Vec<String> =
            pairs.filter_map(|(key, value)| Some(format!("{key} = {}", value.as_ref()?))).collect();
        if words.is_empty() { String::new() } else { format!(" with {}", words.join(", ")) }
    }
}

/// Whether there is a seed, and none twice.
fn are_seeds(seeds: &[u64]) -> bool {
    let mut sorted = seeds.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    !sorted.is_empty() && sorted.len() == seeds.len()
}

fn few_enough(space: &Space, seeds: &[u64]) -> Result<(), String> {
    match (space.len() as u64).saturating_mul(seeds.len() as u64) {
        runs if runs > MOST_RUNS => {
            Err(format!("{runs} runs are more than a study has, {MOST_RUNS}"))
        }
        _ => Ok(()),
    }
}

/// The study's file.
struct Raw<'a> {
    text: &'a str,
    table: &'a Table,
}

const KEYS: &str = "accepted: `version`, `plan`, `seeds`, `duration`, `grid`, `list`, `sample`";

impl Raw<'_> {
    fn plan(&self) -> Result<&str, Fault> {
        for (key, item) in self.table {
            let known =
                ["version", "plan", "seeds", "duration", "grid", "list", "sample"].contains(&key);
            if !known {
                let span = self.table.key(key).and_then(toml_edit::Key::span);
                let span = span.or(item.span());
                return Err(Fault::new(span, format!("unknown key `{key}`")).help(KEYS));
            }
        }
        match self.table.get("version") {
            Some(version) if version.as_integer() == Some(1) => {}
            other => {
                let at = other.and_then(Item::span);
                return Err(Fault::new(at, "a study begins with `version = 1`"));
            }
        }
        let plan = self.table.get("plan");
        plan.and_then(Item::as_str).ok_or_else(|| {
            let at = plan.and_then(Item::span);
            Fault::new(at, "`plan` names the file of the plan, as `plan = \"uplink.toml\"`")
        })
    }

    fn duration(&self) -> Result<Option<Nanos>, Fault> {
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
    fn seeds(&self) -> Result<Vec<u64>, Fault> {
        let Some(item) = self.table.get("seeds") else { return Ok(vec![1]) };
        let wrong = || {
            Fault::new(
                item.span(),
                "seeds are a number of them, from 1 on, or a list of different ones",
            )
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

    fn space(&self) -> Result<Space, Fault> {
        let mut space = Space::default();
        if let Some(item) = self.table.get("grid") {
            for (key, values) in pairs(item)? {
                let list = values.as_array().filter(|list| !list.is_empty());
                let list = list.ok_or_else(|| {
                    Fault::new(values.span(), format!("`{key}` takes a list of values here"))
                })?;
                let values = list.iter().map(|value| self.source(value)).collect();
                space.axes.push(Axis { key: key.parse().map_err(at(list.span()))?, values });
            }
        }
        if let Some(item) = self.table.get("list") {
            let wrong = || Fault::new(item.span(), "`[[list]]` are tables of keys and values");
            let tables: Vec<&dyn TableLike> = match item {
                Item::ArrayOfTables(tables) => tables.iter().map(|table| table as _).collect(),
                Item::Value(Value::Array(list)) => {
                    let tables = list.iter().map(|value| Some(value.as_inline_table()? as _));
                    tables.collect::<Option<_>>().ok_or_else(wrong)?
                }
                _ => return Err(wrong()),
            };
            for table in tables {
                let mut entry = Vec::new();
                for (key, item) in table.iter() {
                    let value = item.as_value().ok_or_else(wrong)?;
                    entry.push((key.parse().map_err(at(item.span()))?, self.source(value)));
                }
                space.list.push(entry);
            }
        }
        if let Some(item) = self.table.get("sample") {
            self.sample(item, &mut space)?;
        }
        space.settle().map_err(|error| Fault::new(None, error))?;
        Ok(space)
    }

    fn sample(&self, item: &Item, space: &mut Space) -> Result<(), Fault> {
        for (key, item) in pairs(item)? {
            let number = || {
                let number = item.as_integer().and_then(|number| u64::try_from(number).ok());
                number.ok_or_else(|| Fault::new(item.span(), format!("`{key}` is a number")))
            };
            match key {
                "points" => space.points = number()?.min(MOST_RUNS) as usize,
                "seed" => space.seed = number()?,
                "over" => {
                    for (key, item) in pairs(item)? {
                        let table = item.as_table_like();
                        let word = |name| table.and_then(|table| table.get(name)?.as_value());
                        let source = |value| self.source(value);
                        let (from, to) = (word("from").map(source), word("to").map(source));
                        let is_log = word("log").and_then(Value::as_bool).unwrap_or(false);
                        let range =
                            from.zip(to).and_then(|(from, to)| Range::new(&from, &to, is_log));
                        let range = range.ok_or_else(|| {
                            let help = "as { from = \"8mbit\", to = \"20mbit\", log = true }: two numbers of \
                                        one unit, the first below the second";
                            Fault::new(item.span(), format!("`{key}` takes a range here")).help(help)
                        })?;
                        let key: edit::Path = key.parse().map_err(at(item.span()))?;
                        space.sampled.push((key, range));
                    }
                }
                _ => {
                    let message = format!("unknown key `{key}`");
                    return Err(
                        Fault::new(item.span(), message).help("accepted: `points`, `seed`, `over`")
                    );
                }
            }
        }
        match space.points == 0 || space.sampled.is_empty() {
            true => Err(Fault::new(item.span(), "a sample has `points`, and keys in `over`")),
            false => Ok(()),
        }
    }

    /// A value as it is written.
    fn source(&self, value: &Value) -> String {
        value.span().and_then(|at| self.text.get(at)).unwrap_or_default().to_owned()
    }
}

fn pairs(item: &Item) -> Result<toml_edit::Iter<'_>, Fault> {
    let table = item.as_table_like().ok_or_else(|| Fault::new(item.span(), "a table is needed"))?;
    Ok(table.iter())
}

fn at(span: Option<std::ops::Range<usize>>) -> impl FnOnce(edit::EditError) -> Fault {
    move |error| Fault::new(span, error.to_string())
}
