//! `TUNE.toml`: a plan, what is sought in it, and what has to hold.

use std::ops::Range;
use std::path::Path;

use laxity_plan::edit;
use laxity_plan::error::Fault;
use laxity_plan::file;
use laxity_plan::{Plan, PlanError};

use super::goal::Goal;
use super::key::Key;
use super::requirements::{KEYS, Requirements};
use crate::Error;
use crate::sweep::file::File;
use crate::sweep::{Space, Study};

/// What is sought in a plan, and what has to hold: that the plan is admitted, if its discipline has
/// a test, that a run keeps every promise under each of the seeds, and the goals.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// The plan and the seeds.
    pub(super) study: Study,
    /// Keys with one value each, which the plan's text does not say.
    pub(super) fixed: Vec<(edit::Path, String)>,
    /// Keys that are made as small as can be, one after the other.
    pub minimise: Vec<Key>,
    /// Keys that may have any value.
    pub choose: Vec<Key>,
    /// What is to be measured.
    pub goals: Vec<Goal>,
    /// How a search goes about it.
    pub search: Search,
}

/// How a search goes about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// How many values of the free keys are tried before none is said to be found.
    pub trials: usize,
    /// Where a measured goal binds, how near the value that fails lies to the one that is found, as
    /// a part of it.
    pub precision: f64,
    /// What values are drawn with.
    pub seed: u64,
}

impl Default for Search {
    fn default() -> Search {
        Search { trials: 40, precision: 0.01, seed: 1 }
    }
}

impl Tuning {
    /// Reads a file, and the plan that it names, whose path counts from the file's folder.
    ///
    /// # Errors
    /// If one cannot be read, with its place.
    pub fn read(path: &Path) -> Result<Tuning, Error> {
        let name = path.display().to_string();
        let text = file::text(path, &name)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let (study, asked) = File::read(&text, &name, |file| {
            file.knows("what is sought", &KEYS)?;
            let (plan, seeds, duration) = (file.plan()?, file.seeds()?, file.duration()?);
            let study = Study::from_file(folder.join(plan), Space::default(), seeds, duration);
            Ok((study, file.requirements()?))
        })?;
        Tuning::new(study?, Vec::new(), asked, &text, &name)
    }

    /// Reads a text without a `plan`. `study` makes a study of the seeds and the duration in it;
    /// each of the `fixed` keys has one value.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn from_text(
        text: &str,
        study: impl FnOnce(Vec<u64>, Option<laxity::units::Nanos>) -> Result<Study, Error>,
        fixed: Vec<(edit::Path, String)>,
    ) -> Result<Tuning, Error> {
        let name = "what is sought";
        let (study, asked) = File::read(text, name, |file| {
            file.knows(name, &KEYS)?;
            Ok((study(file.seeds()?, file.duration()?), file.requirements()?))
        })?;
        Tuning::new(study?, fixed, asked, text, name)
    }

    fn new(
        study: Study,
        fixed: Vec<(edit::Path, String)>,
        asked: Requirements,
        text: &str,
        name: &str,
    ) -> Result<Tuning, Error> {
        let Requirements { minimise, choose, goals, search } = asked;
        let mut tuning = Tuning { study, fixed, minimise, choose, goals: Vec::new(), search };
        let (plan, _) = tuning.plan_at(&tuning.start())?;
        for (goal, span) in &goals {
            let known = known(&plan, goal, span.clone());
            known.map_err(|fault| PlanError::new(name, text, fault))?;
        }
        crate::check(&plan).map_err(|error| Error::Question(error.to_string()))?;
        if plan.sources.is_empty() && !goals.is_empty() {
            return Err(Error::Question(Error::NothingArrives.to_string()));
        }
        tuning.goals = goals.into_iter().map(|(goal, _)| goal).collect();
        Ok(tuning)
    }

    /// The keys that are sought: those that are made small, then those that may have any value.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.minimise.iter().chain(&self.choose)
    }

    /// The file of the plan.
    pub fn plan(&self) -> &Path {
        &self.study.plan
    }

    /// The values of the keys, each with its key, as they are written in TOML.
    pub(super) fn entry(&self, values: &[f64]) -> Vec<(edit::Path, String)> {
        let sought = self.keys().zip(values);
        let sought = sought.map(|(key, value)| (key.path.clone(), key.written(*value)));
        self.fixed.iter().cloned().chain(sought).collect()
    }

    /// The study of one combination.
    pub(super) fn study_at(&self, values: &[f64]) -> Result<Study, Error> {
        let mut space = Space { list: vec![self.entry(values)], ..Space::default() };
        space.settle().map_err(Error::Question)?;
        Ok(self.study.with_space(space))
    }

    /// The plan with these values of the keys, and its text.
    ///
    /// # Errors
    /// If the plan has no such keys, or is none with them.
    pub fn plan_at(&self, values: &[f64]) -> Result<(Plan, String), Error> {
        let study = self.study_at(values)?;
        let point = study.space.points().next().expect("an entry is a combination");
        let (plan, draft) = study.plan_at(&point)?;
        Ok((plan, draft.text()))
    }

    /// Where a search starts: the largest of what is to be small, and of the others what the plan
    /// says, if that lies in its range, or else the middle.
    pub fn start(&self) -> Vec<f64> {
        let own = |key: &Key| self.study.own(&key.path).and_then(|value| key.number(&value));
        let choose = self.choose.iter().map(|key| own(key).unwrap_or_else(|| key.at(0.5)));
        self.minimise.iter().map(|key| key.to).chain(choose).collect()
    }
}

/// Refuses a goal of what the plan does not have.
fn known(plan: &Plan, goal: &Goal, span: Option<Range<usize>>) -> Result<(), Fault> {
    let outputs = || crate::custom::outputs(plan);
    if let Some(at) = &goal.at
        && !outputs().any(|output| output == *at)
    {
        let fault = Fault::new(span, format!("the plan has no output `{at}`"));
        let first: Vec<String> = outputs().take(20).map(|output| format!("`{output}`")).collect();
        return Err(fault.help(if first.is_empty() {
            "a plan of one link has no `at`: leave it out".to_owned()
        } else {
            format!("accepted: {}", first.join(", "))
        }));
    }
    let classes = || plan.leaves().map(|(_, class)| class.name.as_str());
    if goal.class == "link" || classes().any(|class| class == goal.class) {
        return Ok(());
    }
    let accepted: Vec<String> = classes().map(|class| format!("`{class}`")).collect();
    let fault = Fault::new(span, format!("the plan measures no class `{}`", goal.class));
    Err(fault.help(format!("accepted: {}, or `link`", accepted.join(", "))))
}
