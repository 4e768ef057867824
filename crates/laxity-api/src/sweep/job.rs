//! A run of a study, and its name.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use laxity_answers::figure::{Figure, figures};
use laxity_answers::verdict::JudgedRun;
use laxity_plan::Plan;
use laxity_plan::model::Source;
use sha2::{Digest, Sha256};

use super::Study;
use crate::{Error, RunResult, Traffic, run};

/// The name of a run: 32 digits of a hash of the plan, the recordings that it names, its scheduler,
/// the duration, the seed and Laxity's version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl RunId {
    /// A number that is as evenly spread as the names are.
    pub fn number(&self) -> u64 {
        u64::from_str_radix(&self.0[..16], 16).expect("digits of a hash")
    }
}

/// A run to be made.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its name.
    pub id: RunId,
    /// Its values of the keys that vary.
    pub point: Arc<[Option<String>]>,
    /// The scheduler.
    pub scheduler: Arc<str>,
    /// The seed.
    pub seed: u64,
}

/// What came of a run.
pub(super) struct JobResult {
    /// The text of the plan.
    pub text: String,
    pub figures: Vec<Figure>,
    pub admitted: Option<bool>,
    pub kept: bool,
    pub took: Duration,
}

impl Job {
    /// All runs of a study, seeds changing fastest; a combination that repeats another is left out.
    ///
    /// # Errors
    /// If a combination is of no plan, or a recording cannot be read.
    pub fn all(study: &Study) -> Result<Vec<Job>, Error> {
        let mut digests = BTreeMap::new();
        let mut jobs: Vec<Job> = Vec::new();
        let mut known = std::collections::BTreeSet::new();
        for point in study.space.points() {
            let (plan, draft) = study.plan_at(&point)?;
            let own = study.own_at(&point);
            let scheduler = own.map_or(plan.scheduler.name(), |own| &own.name);
            let mut hash = Sha256::new();
            for word in ["laxity run 1", env!("CARGO_PKG_VERSION"), scheduler] {
                field(&mut hash, word.as_bytes());
            }
            own.iter().for_each(|own| field(&mut hash, &own.identity));
            field(&mut hash, draft.essence().as_bytes());
            field(&mut hash, format!("{:?}", study.duration).as_bytes());
            let recordings = plan.sources.iter().filter_map(|source| match source {
                Source::Recording(recording) => Some(&recording.file),
                _ => None,
            });
            for file in recordings.chain(plan.files.iter().map(|named| &named.file)) {
                field(&mut hash, &digest(file, &mut digests)?);
            }
            // A plan is read again for a run: a million of them would be gigabytes.
            let (scheduler, point): (Arc<str>, Arc<[_]>) = (scheduler.into(), point.into());
            for &seed in &study.seeds {
                let mut hash = hash.clone();
                field(&mut hash, &seed.to_le_bytes());
                let id = RunId(
                    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect(),
                );
                if known.insert(id.clone()) {
                    let (point, scheduler) = (point.clone(), scheduler.clone());
                    jobs.push(Job { id, point, scheduler, seed });
                }
            }
        }
        Ok(jobs)
    }

    /// Makes the run under one of Laxity's schedulers.
    pub(super) fn run(&self, study: &Study) -> Result<JobResult, Error> {
        self.run_by(study, |plan, traffic| {
            let ran = run(plan, traffic, &mut (), &mut crate::to_the_end);
            ran.map_err(|error| Error::Run {
                run: format!("{}, seed {}", study.called(&self.point), self.seed),
                error: Box::new(error),
            })
        })
    }

    /// Makes the run by a function that simulates its plan.
    pub(super) fn run_by<E: From<Error>>(
        &self,
        study: &Study,
        by: impl for<'p> FnOnce(&'p Plan, &Traffic<'_>) -> Result<RunResult<'p>, E>,
    ) -> Result<JobResult, E> {
        let traffic =
            Traffic { duration: study.duration, seed: Some(self.seed), ..Traffic::default() };
        let began = Instant::now();
        let (plan, draft) = study.plan_at(&self.point)?;
        let JudgedRun { summary, verdict } = by(&plan, &traffic)?.judged;
        let (admitted, kept) = (verdict.admitted, verdict.kept);
        Ok(JobResult {
            text: draft.text(),
            figures: figures(&summary),
            admitted,
            kept,
            took: began.elapsed(),
        })
    }
}

/// Adds bytes so that no two lists of fields are the same to the hash.
fn field(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

/// The hash of a file, which is read once.
fn digest(path: &Path, known: &mut BTreeMap<PathBuf, Vec<u8>>) -> Result<Vec<u8>, Error> {
    if let Some(known) = known.get(path) {
        return Ok(known.clone());
    }
    let failed = |error| Error::Io { path: path.to_path_buf(), error };
    let mut hash = Sha256::new();
    let mut file = File::open(path).map_err(failed)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = file.read(&mut buffer).map_err(failed)?;
        if length == 0 {
            break;
        }
        hash.update(&buffer[..length]);
    }
    let digest = hash.finalize().to_vec();
    known.insert(path.to_path_buf(), digest.clone());
    Ok(digest)
}
