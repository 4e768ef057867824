//! Values that are tried: proved, run under every seed, and judged.

use laxity_answers::{Proof, Reason, reason};
use laxity_plan::Plan;
use laxity_report::{json, words};
use serde::Serialize;

use super::goal::GoalResult;
use super::question::Tuning;
use crate::Error;
use crate::sweep::{Job, Listener, Row, Shard, Store, sweep};

/// Values of the keys that are sought, and what came of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Trial {
    /// The values, in the order of [`Tuning::keys`], as plans write them.
    pub values: Vec<String>,
    /// The same as numbers of their least unit.
    pub numbers: Vec<f64>,
    /// Whether all that has to hold does.
    pub holds: bool,
    /// How far it is from that: 0 if it holds; the more, the further.
    pub miss: f64,
    /// Why a plan cannot have these values together, if that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The reasons of the admission test; `None` without a test. In JSON they stand beside
    /// `admitted` and `statement`.
    #[serde(flatten, serialize_with = "json::answer")]
    pub reasons: Option<Vec<Reason>>,
    /// The seeds with which a run broke a promise; `None` if there was no run, because the plan is
    /// not admitted or has no sources.
    pub broken: Option<Vec<u64>>,
    /// How the goals were reached; none if it was not run.
    pub goals: Vec<GoalResult>,
}

impl Tuning {
    /// Proves the plan with these values of the keys, makes the runs that the store does not have,
    /// and judges them. `heard` may end it.
    ///
    /// # Errors
    /// If the plan has no such keys, or a run cannot be had.
    pub fn judge(
        &self,
        values: &[f64],
        store: &Store,
        heard: Listener<'_>,
    ) -> Result<Trial, Error> {
        // Further than anything that is admitted, whatever that misses.
        let not_admitted = 2.0 + self.goals.len() as f64;
        let mut trial = Trial {
            values: self.keys().zip(values).map(|(key, value)| key.shown(*value)).collect(),
            numbers: values.to_vec(),
            miss: not_admitted,
            ..Trial::default()
        };
        let plan = match self.plan_or_why(values)? {
            Ok(plan) => plan,
            Err(why) => {
                let miss = 1.0 + not_admitted;
                return Ok(Trial { refused: Some(why), miss, ..trial });
            }
        };
        trial.reasons = Proof::new(&plan).map(|proof| proof.reasons().to_vec());
        if trial.admitted() == Some(false) {
            return Ok(trial);
        }
        (trial.holds, trial.miss) = (true, 0.0);
        if !plan.sources.is_empty() {
            self.measure(&mut trial, store, heard)?;
        }
        Ok(trial)
    }

    /// Whether the admission test admits the plan with these values, if it tells; one that is none
    /// it does not.
    pub(super) fn admits(&self, values: &[f64]) -> Result<Option<bool>, Error> {
        Ok(self.plan_or_why(values)?.map_or(Some(false), |plan| Proof::new(&plan)?.admitted()))
    }

    /// The plan with these values, or why it is none: values that are right one by one may not go
    /// together.
    fn plan_or_why(&self, values: &[f64]) -> Result<Result<Plan, String>, Error> {
        match self.plan_at(values) {
            Ok((plan, _)) => Ok(Ok(plan)),
            Err(Error::Plan(error)) if error.io_kind().is_none() => {
                Ok(Err(error.message().to_owned()))
            }
            Err(error) => Err(error),
        }
    }

    fn measure(&self, trial: &mut Trial, store: &Store, heard: Listener<'_>) -> Result<(), Error> {
        let study = self.study_at(&trial.numbers)?;
        let jobs = Job::all(&study)?;
        sweep(&study, &jobs, store, Shard::WHOLE, heard)?;
        let rows = |job: &Job| Ok((job.seed, store.rows(job)?.unwrap_or_default()));
        let runs: Vec<(u64, Vec<Row>)> = jobs.iter().map(rows).collect::<Result<_, Error>>()?;
        let broke = runs.iter().filter(|(_, rows)| rows.iter().any(|row| !row.kept));
        let broken: Vec<u64> = broke.map(|(seed, _)| *seed).collect();
        trial.goals = self.goals.iter().map(|goal| goal.reached(&runs)).collect();
        trial.holds = broken.is_empty() && trial.goals.iter().all(GoalResult::holds);
        // Of each goal less than 1, so that one which is missed by far does not hide the others.
        let beyond = |reached: &GoalResult| reached.miss.max(0.0) / (1.0 + reached.miss.max(0.0));
        let missed: f64 = trial.goals.iter().map(beyond).sum();
        trial.miss = missed + broken.len() as f64 / runs.len() as f64;
        trial.broken = Some(broken);
        Ok(())
    }
}

impl Trial {
    /// Whether the admission test admits the plan; `None` without a test, and if it is not known.
    pub fn admitted(&self) -> Option<bool> {
        self.reasons.as_deref().and_then(reason::admitted)
    }

    /// The answer of the admission test in a few sentences; `None` without a test.
    pub fn statement(&self) -> Option<String> {
        self.reasons.as_deref().map(words::statement)
    }

    /// Why it does not hold, each reason a sentence; nothing if it does.
    pub fn why(&self) -> Vec<String> {
        if let Some(why) = &self.refused {
            return vec![format!("it is no plan: {why}")];
        }
        if self.admitted() == Some(false) {
            return vec![words::answer(Some(false), &self.statement().unwrap_or_default())];
        }
        let broken = self.broken.iter().filter(|seeds| !seeds.is_empty()).map(|seeds| {
            let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
            let word = if seeds.len() == 1 { "seed" } else { "seeds" };
            format!("a promise was broken with {word} {}", seeds.join(", "))
        });
        let missed = self.goals.iter().filter(|reached| !reached.holds());
        broken.chain(missed.map(GoalResult::why)).collect()
    }
}
