//! The tables of `TUNE.toml`.

use std::ops::Range;

use laxity_answers::figure::NAMES;
use laxity_plan::edit;
use laxity_plan::error::Fault;
use toml_edit::{Item, TableLike};

use super::goal::{Goal, Limit, limit};
use super::key::{Key, Kind};
use super::question::Search;
use crate::sweep::file::{File, at, pairs, unknown};

/// What a file may hold.
pub(super) const KEYS: [&str; 8] =
    ["version", "plan", "seeds", "duration", "minimise", "choose", "goal", "search"];
const MOST_TRIALS: i64 = 100_000;

/// A goal, and its place in the file.
pub(super) type LocatedGoal = (Goal, Option<Range<usize>>);

/// What a file says besides the plan.
pub(super) struct Requirements {
    pub minimise: Vec<Key>,
    pub choose: Vec<Key>,
    pub goals: Vec<LocatedGoal>,
    pub search: Search,
}

impl File<'_> {
    /// What is sought.
    pub(super) fn requirements(&self) -> Result<Requirements, Fault> {
        let minimise = self.keys("minimise")?;
        let choose = self.keys("choose")?;
        if minimise.is_empty() && choose.is_empty() {
            let message = "nothing is sought: name keys in `[minimise]` or `[choose]`";
            return Err(Fault::new(None, message));
        }
        if let Some(key) = choose.iter().find(|key| minimise.iter().any(|one| one.path == key.path))
        {
            let at = self.table.get("choose").and_then(Item::span);
            return Err(Fault::new(at, format!("`{}` is sought in two places", key.path)));
        }
        if let Some(key) = minimise.iter().find(|key| key.kind == Kind::Real) {
            let at = self.table.get("minimise").and_then(Item::span);
            let message = format!("`{}` has no least step", key.path);
            let help = "made small are times, rates, sizes and whole numbers";
            return Err(Fault::new(at, message).help(help));
        }
        Ok(Requirements { minimise, choose, goals: self.goals()?, search: self.search()? })
    }

    fn keys(&self, table: &str) -> Result<Vec<Key>, Fault> {
        let Some(item) = self.table.get(table) else { return Ok(Vec::new()) };
        let one = |(key, item): (&str, &Item)| {
            let path: edit::Path = key.parse().map_err(at(item.span()))?;
            self.range(key, item, |from, to, is_log| Key::new(path, from, to, is_log))
        };
        pairs(item)?.map(one).collect()
    }

    fn goals(&self) -> Result<Vec<LocatedGoal>, Fault> {
        let wrong = || {
            let at = self.table.get("goal").and_then(Item::span);
            Fault::new(at, "`[[goal]]` are tables, each of a goal")
        };
        let tables = self.tables("goal").ok_or_else(wrong)?.into_iter();
        tables.map(|(table, span)| Ok((self.goal(table, span.clone())?, span))).collect()
    }

    fn goal(&self, table: &dyn TableLike, span: Option<Range<usize>>) -> Result<Goal, Fault> {
        const KEYS: [&str; 5] = ["class", "at", "figure", "at_most", "at_least"];
        if let Some((key, item)) = table.iter().find(|(key, _)| !KEYS.contains(key)) {
            return Err(unknown(key, item.span(), &KEYS));
        }
        let word = |key: &str| {
            let item = table.get(key);
            let word = item.map(|item| {
                let wrong = || Fault::new(item.span(), format!("`{key}` is a name in quotes"));
                item.as_str().map(str::to_owned).ok_or_else(wrong)
            });
            word.transpose()
        };
        let missing = |key: &str| {
            Fault::new(span.clone(), format!("a goal has a `{key}`"))
                .help("as class = \"web\", figure = \"delay_ns.p99\", at_most = \"20ms\"")
        };
        let class = word("class")?.ok_or_else(|| missing("class"))?;
        let figure = word("figure")?.ok_or_else(|| missing("figure"))?;
        if !NAMES.contains(&&*figure) {
            let at = table.get("figure").and_then(Item::span);
            let fault = Fault::new(at, format!("there is no figure `{figure}`"));
            return Err(fault.help(format!("accepted: {}", NAMES.join(", "))));
        }
        let number = |key: &str| {
            let item = table.get(key);
            let number = item.map(|item| {
                let text = item.as_value().map(|value| self.source(value)).unwrap_or_default();
                limit(&figure, &text).map_err(|message| Fault::new(item.span(), message))
            });
            number.transpose()
        };
        let limit = match (number("at_most")?, number("at_least")?) {
            (Some(limit), None) => Limit::AtMost(limit),
            (None, Some(limit)) => Limit::AtLeast(limit),
            _ => return Err(missing("at_most` or `at_least")),
        };
        Ok(Goal { class, at: word("at")?, figure, limit })
    }

    fn search(&self) -> Result<Search, Fault> {
        let mut search = Search::default();
        let Some(item) = self.table.get("search") else { return Ok(search) };
        for (key, item) in pairs(item)? {
            let number = item.as_integer();
            let wrong = |what: &str| Fault::new(item.span(), format!("`{key}` is {what}"));
            match key {
                "trials" => {
                    let trials = number.filter(|trials| (1..=MOST_TRIALS).contains(trials));
                    search.trials =
                        trials.ok_or_else(|| wrong("a number from 1 to 100000"))? as usize;
                }
                "seed" => {
                    let seed = number.and_then(|seed| u64::try_from(seed).ok());
                    search.seed = seed.ok_or_else(|| wrong("a whole number"))?;
                }
                "precision" => {
                    let part = item.as_float().filter(|part| *part >= 1e-6 && *part <= 0.5);
                    search.precision = part.ok_or_else(|| wrong("a part from 0.000001 to 0.5"))?;
                }
                _ => return Err(unknown(key, item.span(), &["trials", "precision", "seed"])),
            }
        }
        Ok(search)
    }
}
