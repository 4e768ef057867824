//! What a search found.

use std::path::Path;

use laxity_plan::Plan;
use serde::Serialize;

use super::key::Key;
use super::question::Tuning;
use super::relocate::relocated;
use super::trial::Trial;
use crate::{CheckResult, Error};

/// What a search found.
#[derive(Clone, Debug, Serialize)]
pub struct TuneResult {
    /// Whether it found values with which all that has to hold does.
    pub found: bool,
    /// The keys that were sought.
    pub keys: Vec<String>,
    /// Of the keys that were made small, what binds; empty if nothing was found.
    pub minimised: Vec<Least>,
    /// The free keys, and what they got; empty if nothing was found.
    pub chosen: Vec<TunedKey>,
    /// What was found, or came nearest.
    pub best: Trial,
    /// All that was tried, in order.
    pub trials: Vec<Trial>,
    /// What is proved of the plan, as `laxity check` has it; absent if nothing was found.
    pub proof: Option<CheckResult>,
    /// The plan that was found, and its text: the text of the question's plan with other values.
    #[serde(skip)]
    pub plan: Option<(Plan, String)>,
}

/// How small a key was made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Least {
    /// The key, and what it got.
    #[serde(flatten)]
    pub chosen: TunedKey,
    /// What does not let it be smaller.
    pub bound: Bound,
    /// The next smaller value that was tried; absent where the range begins.
    pub below: Option<Below>,
}

/// What does not let a key be smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The range begins here.
    Range,
    /// The next smaller value of its least unit is not admitted, or gives no plan. This is proved,
    /// with the values of the other keys that were found.
    Admission,
    /// A smaller value by the precision of the search failed under a seed: this is measured.
    Measured,
}

/// A value that is too small.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Below {
    /// The value.
    pub value: String,
    /// Why, each reason a sentence.
    pub why: Vec<String>,
}

/// A key of a tuned plan and the value that was found for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TunedKey {
    /// The key.
    pub key: String,
    /// Between which values it was sought.
    pub range: [String; 2],
    /// What was found.
    pub value: String,
}

impl TunedKey {
    pub(super) fn new(key: &Key, value: &str) -> TunedKey {
        let range = [key.from, key.to].map(|end| key.shown(end));
        TunedKey { key: key.path.to_string(), range, value: value.to_owned() }
    }
}

impl TuneResult {
    /// The text of the plan that was found for a folder that is there: its recordings are found
    /// from that.
    ///
    /// # Errors
    /// If a recording is not where it was.
    pub fn text_in(&self, folder: &Path) -> std::io::Result<Option<String>> {
        self.plan.as_ref().map(|(plan, text)| relocated(plan, text, folder)).transpose()
    }

    pub(super) fn new(
        tuning: &Tuning,
        best: Trial,
        minimised: Vec<Least>,
        trials: Vec<Trial>,
    ) -> Result<TuneResult, Error> {
        let plan = best.holds.then(|| tuning.plan_at(&best.numbers)).transpose()?;
        let check = |(plan, _): &(Plan, _)| {
            crate::check(plan).map_err(|error| Error::Question(error.to_string()))
        };
        let proof = plan.as_ref().map(check).transpose()?;
        let choose = tuning.choose.iter().zip(&best.values[tuning.minimise.len()..]);
        let chosen = choose.filter(|_| best.holds).map(|(key, value)| TunedKey::new(key, value));
        Ok(TuneResult {
            found: best.holds,
            keys: tuning.keys().map(|key| key.path.to_string()).collect(),
            minimised,
            chosen: chosen.collect(),
            best,
            trials,
            proof,
            plan,
        })
    }
}
