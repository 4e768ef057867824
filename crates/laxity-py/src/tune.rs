//! Plans that are found.

use std::path::PathBuf;

use laxity_api::Error;
use laxity_api::sweep::{Space, Store, Study};
use laxity_api::tune::{self, Kind, tune};
use pyo3::prelude::*;

use crate::errors::Result;
use crate::plan::Plan;
use crate::study::attended;
use crate::text::json;

/// What is sought in a plan, and what has to hold.
#[pyclass(frozen, module = "laxity._laxity")]
pub struct Tuning {
    tuning: tune::Tuning,
    plan: Plan,
    store: PathBuf,
}

#[pymethods]
impl Tuning {
    /// Of a plan, and of a text as `laxity tune` reads it, without `plan`.
    #[new]
    fn new(plan: &Plan, sought: &str, store: PathBuf) -> Result<Tuning> {
        let (name, folder) = (PathBuf::from(&plan.name), plan.folder.clone());
        let study = |seeds, duration| {
            Study::new(name, folder, &plan.text, Space::default(), seeds, duration)
        };
        let under = plan
            .under
            .as_ref()
            .map(|scheduler| ("scheduler".parse().expect("it is a key"), format!("{scheduler:?}")));
        let tuning = tune::Tuning::from_text(sought, study, under.into_iter().collect())?;
        Ok(Tuning { tuning, plan: plan.clone(), store })
    }

    /// For each key its name, the least and the largest number of its least unit, whether samples
    /// are even by logarithms, whether it is whole, and where a search begins.
    fn keys(&self) -> Vec<(String, f64, f64, bool, bool, f64)> {
        let keys = self.tuning.keys().zip(self.tuning.start());
        let keys = keys.map(|(key, start)| {
            let is_whole = key.kind != Kind::Real;
            (key.path.to_string(), key.from, key.to, key.is_log, is_whole, start)
        });
        keys.collect()
    }

    /// The plan with these numbers.
    fn plan(&self, numbers: Vec<f64>) -> Result<Plan> {
        self.fits(&numbers)?;
        let (plan, text) = self.tuning.plan_at(&numbers)?;
        Ok(Plan { plan, text, ..self.plan.clone() })
    }

    /// Proves the plan with these numbers, makes the runs that the store does not have, and judges
    /// them: a trial in the JSON of `laxity tune`.
    fn judge(&self, py: Python<'_>, numbers: Vec<f64>, heard: Option<Py<PyAny>>) -> Result<String> {
        self.fits(&numbers)?;
        let trial = attended(py, heard, |tell| {
            self.tuning.judge(&numbers, &Store::open(&self.store)?, tell)
        })?;
        Ok(json(&trial))
    }

    /// Seeks: the JSON of `laxity tune`, the same for people and as a page, and the plan, if one is
    /// found.
    fn tune(
        &self,
        py: Python<'_>,
        heard: Option<Py<PyAny>>,
    ) -> Result<(String, String, String, Option<Plan>)> {
        let (json, text, page, plan) = attended(py, heard, |tell| {
            let tuned = tune(&self.tuning, &Store::open(&self.store)?, tell)?;
            let page = tuned.html(&self.tuning, "Search");
            Ok::<_, Error>((json(&tuned), tuned.text(), page, tuned.plan))
        })?;
        let plan = plan.map(|(plan, text)| Plan { plan, text, ..self.plan.clone() });
        Ok((json, text, page, plan))
    }
}

impl Tuning {
    /// Refuses more or fewer numbers than there are keys, and those out of their range.
    fn fits(&self, numbers: &[f64]) -> Result<()> {
        let are_as_many = self.tuning.keys().count() == numbers.len();
        let mut pairs = self.tuning.keys().zip(numbers);
        if are_as_many && pairs.all(|(key, number)| (key.from..=key.to).contains(number)) {
            Ok(())
        } else {
            Err("a number for each key is needed, in its range".into())
        }
    }
}
