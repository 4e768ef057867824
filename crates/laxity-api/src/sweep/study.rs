//! `STUDY.toml`: a plan, what is varied in it, and under which seeds.

use std::path::{Path, PathBuf};

use laxity::units::Nanos;
use laxity_plan::discipline::Kind;
use laxity_plan::edit::{self, Draft, EditError};
use laxity_plan::error::Fault;
use laxity_plan::file;
use laxity_plan::model::SchedulerSpec;
use laxity_plan::{Plan, PlanError, UnknownScheduler};
use toml_edit::{Item, Value};

use super::file::{File, at, pairs};
use super::space::{Axis, Range, Space};
use super::store::plain;
use crate::Error;

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
    /// Schedulers of one's own that values of the key `scheduler` name.
    own: Vec<Own>,
    draft: Draft,
    /// From where recordings are looked for.
    folder: PathBuf,
}

/// A scheduler of one's own, as a study knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever has such a scheduler")]
pub struct Own {
    /// What values of the key `scheduler` call it, and tables.
    pub name: String,
    /// What tells it from others of its name: runs are named by it.
    pub identity: Vec<u8>,
    /// The discipline that the plan is put under meanwhile: one that proves no more than holds of
    /// this one.
    pub under: String,
    /// Keys of the plan that are set for it, and their values as plans write them.
    pub edits: Vec<(String, String)>,
}

/// Whether a key names the discipline of a plan, independent of that discipline's settings.
pub fn is_scheduler(key: &str) -> bool {
    matches!(key, "scheduler" | "scheduler.kind")
}

const KEYS: [&str; 7] = ["version", "plan", "seeds", "duration", "grid", "list", "sample"];

/// A study has no more runs.
pub const MOST_RUNS: u64 = 1_000_000;

impl Study {
    /// Reads a study, and the plan that it names, whose path counts from the study's folder.
    ///
    /// # Errors
    /// If one cannot be read, with its place.
    pub fn read(path: &Path) -> Result<Study, Error> {
        let name = path.display().to_string();
        let folder = path.parent().unwrap_or(Path::new(""));
        Study::parse(&file::text(path, &name)?, &name, folder)
    }

    /// The same from its text.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn parse(text: &str, name: &str, folder: &Path) -> Result<Study, Error> {
        let (study, values) = File::read(text, name, |file| {
            file.knows("a study", &KEYS)?;
            let plan = file.plan()?;
            let ((space, values), seeds) = (file.space()?, file.seeds()?);
            let duration = file.duration()?;
            few_enough(&space, &seeds).map_err(|message| Fault::new(None, message))?;
            Ok((Study::from_file(folder.join(plan), space, seeds, duration), values))
        })?;
        let study = study?;
        for KeyValue { key, value, span } in values {
            let refused = |message| PlanError::new(name, text, Fault::new(span.clone(), message));
            study.takes(&key, &value).map_err(refused)?;
        }
        Ok(study)
    }

    /// Whether the plan has a place for a key, and the key may have this value as far as that is
    /// known by itself.
    fn takes(&self, key: &str, value: &str) -> Result<(), String> {
        if is_scheduler(key) {
            let named = SchedulerSpec::named(plain(value), SchedulerSpec::Fifo);
            // One that needs more than its name may have it in the plan.
            return match named {
                Err(error @ UnknownScheduler::Word { .. }) => Err(error.to_string()),
                _ => Ok(()),
            };
        }
        let key: edit::Path = key.parse().map_err(|error: EditError| error.to_string())?;
        self.draft.clone().set(&key, value).map_err(|error| error.to_string())
    }

    /// A study of the plan in a file. Paths of recordings count from the file's folder.
    ///
    /// # Errors
    /// If that cannot be read, or is no TOML.
    pub(crate) fn from_file(
        plan: PathBuf,
        space: Space,
        seeds: Vec<u64>,
        duration: Option<Nanos>,
    ) -> Result<Study, Error> {
        let name = plan.display().to_string();
        let draft = Draft::parse(&file::text(&plan, &name)?, &name)?;
        let folder = plan.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Study { plan, space, seeds, duration, own: Vec::new(), draft, folder })
    }

    /// The study with schedulers of one's own, which the values of its space may name.
    ///
    /// # Errors
    /// If two have one name, or one has that of a discipline.
    pub fn with_own(self, own: Vec<Own>) -> Result<Study, Error> {
        for (at, Own { name, .. }) in own.iter().enumerate() {
            let named = SchedulerSpec::named(name, SchedulerSpec::Fifo);
            if !matches!(named, Err(UnknownScheduler::Word { .. })) {
                return Err(Error::Question(format!("{name} is the name of a discipline")));
            }
            if own[..at].iter().any(|other| other.name == *name) {
                return Err(Error::Question(format!("two schedulers are called {name}")));
            }
        }
        Ok(Study { own, ..self })
    }

    /// The scheduler of one's own under which a combination puts the plan.
    pub fn own_at(&self, point: &[Option<String>]) -> Option<&Own> {
        let mut named = self.space.keys.iter().zip(point).rev();
        let (_, named) =
            named.find(|(key, value)| is_scheduler(&key.to_string()) && value.is_some())?;
        self.own.iter().find(|own| named.as_deref().map(plain) == Some(&own.name))
    }

    /// The study with other combinations.
    pub(crate) fn with_space(&self, space: Space) -> Study {
        Study { space, ..self.clone() }
    }

    /// A study of a plan's text. Errors call it `plan`; paths of recordings count from `folder`.
    ///
    /// # Errors
    /// If it is no TOML, there are no seeds or one twice, or too many runs.
    pub fn new(
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
        Ok(Study { plan, space, seeds, duration, own: Vec::new(), draft, folder })
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
        let own = self.own_at(point);
        for (key, value) in own.iter().flat_map(|own| &own.edits) {
            draft.set(&key.parse()?, value)?;
        }
        let scheduler = own.map_or(scheduler, |own| Some(&own.under));
        let (name, others) = (self.called(point), self.disciplines());
        let plan = Plan::parse_for(&draft.text(), &name, &self.folder, &others)?;
        Ok(match scheduler {
            Some(scheduler) => (plan.under(scheduler)?, draft),
            None => (plan, draft),
        })
    }

    /// The disciplines under which its space puts the plan: a class may have keys of each.
    fn disciplines(&self) -> Vec<Kind> {
        let Space { axes, list, .. } = &self.space;
        let of_axes =
            axes.iter().flat_map(|axis| axis.values.iter().map(|value| (&axis.key, value)));
        let of_list = list.iter().flatten().map(|(key, value)| (key, value));
        let named = of_axes.chain(of_list).filter(|(key, _)| is_scheduler(&key.to_string()));
        let named = named.map(|(_, value)| plain(value));
        let own = self.own.iter().map(|own| &*own.under);
        Kind::known(named.chain(own))
    }

    /// The plan's own value of a key, as it is written.
    pub(crate) fn own(&self, key: &edit::Path) -> Option<String> {
        self.draft.get(key)
    }

    /// What errors call the plan with the values of a combination.
    pub(super) fn called(&self, point: &[Option<String>]) -> String {
        format!("{}{}", self.plan.display(), self.with(point))
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
pub(super) fn are_seeds(seeds: &[u64]) -> bool {
    let mut sorted = seeds.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    !sorted.is_empty() && sorted.len() == seeds.len()
}

fn few_enough(space: &Space, seeds: &[u64]) -> Result<(), String> {
    match (space.len() as u64).saturating_mul(seeds.len() as u64) {
        runs if runs > MOST_RUNS => {
            let many = if runs == u64::MAX { "these".to_owned() } else { format!("{runs}") };
            Err(format!(
                "{many} runs are more than a study may have, {MOST_RUNS}: a run for each combination of values \
                 and each seed"
            ))
        }
        _ => Ok(()),
    }
}

/// A value of a key, and where it stands.
struct KeyValue {
    key: String,
    value: String,
    span: Option<std::ops::Range<usize>>,
}

impl File<'_> {
    /// The combinations, and all that keys are to be; of a range where it begins.
    fn space(&self) -> Result<(Space, Vec<KeyValue>), Fault> {
        let (mut space, mut values) = (Space::default(), Vec::new());
        let mut put = |key: &str, value: &Value| {
            let source = self.source(value);
            values.push(KeyValue { key: key.into(), value: source.clone(), span: value.span() });
            source
        };
        if let Some(item) = self.table.get("grid") {
            for (key, values) in pairs(item)? {
                let list = values.as_array().filter(|list| !list.is_empty());
                let list = list.ok_or_else(|| {
                    Fault::new(values.span(), format!("`{key}` takes a list of values here"))
                })?;
                let values = list.iter().map(|value| put(key, value)).collect();
                space.axes.push(Axis { key: key.parse().map_err(at(list.span()))?, values });
            }
        }
        if let Some(item) = self.table.get("list") {
            let wrong = || Fault::new(item.span(), "`[[list]]` are tables of keys and values");
            for (table, _) in self.tables("list").ok_or_else(wrong)? {
                let mut entry = Vec::new();
                for (key, item) in table.iter() {
                    let value = put(key, item.as_value().ok_or_else(wrong)?);
                    entry.push((key.parse().map_err(at(item.span()))?, value));
                }
                space.list.push(entry);
            }
        }
        if let Some(item) = self.table.get("sample") {
            self.sample(item, &mut space, &mut put)?;
        }
        space.settle().map_err(|error| Fault::new(None, error))?;
        Ok((space, values))
    }

    fn sample(
        &self,
        item: &Item,
        space: &mut Space,
        put: &mut impl FnMut(&str, &Value) -> String,
    ) -> Result<(), Fault> {
        for (key, item) in pairs(item)? {
            let number = item.as_integer().and_then(|number| u64::try_from(number).ok());
            let wrong = |what: &str| Fault::new(item.span(), format!("`{key}` is {what}"));
            match key {
                "points" => {
                    let points = number.filter(|points| (1..=MOST_RUNS).contains(points));
                    let wrong = || wrong(&format!("a whole number from 1 to {MOST_RUNS}"));
                    space.points = points.ok_or_else(wrong)? as usize;
                }
                "seed" => {
                    space.seed = number.ok_or_else(|| wrong("a whole number, at least 0"))?;
                }
                "over" => {
                    for (key, item) in pairs(item)? {
                        let range = self.range(key, item, Range::new)?;
                        let from = item.as_table_like().and_then(|range| range.get("from"));
                        from.and_then(Item::as_value).map(|from| put(key, from));
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
        if space.points == 0 || space.sampled.is_empty() {
            Err(Fault::new(item.span(), "a sample has `points`, and keys in `over`"))
        } else {
            Ok(())
        }
    }
}
