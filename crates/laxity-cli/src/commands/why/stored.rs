//! `laxity why` of a run that `laxity run --out` stored.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Parser;
use laxity_api::Traffic;
use laxity_api::why::{PlanSource, Question, WhyResult, why_observed};
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_report::manifest::{MANIFEST, Manifest, Name};
use laxity_sim::trace::{RowComparison, RowDifference};

use super::{answer, changes, kinds, packets, question, refuse_traffic};
use crate::args::{Arguments, Command, Run, Why};
use crate::failure::Failure;
use crate::progress::Simulating;
use crate::terminal::notes;
use crate::{Promises, input, traffic};

/// The manifest that a path names: its own, or that of the folder.
pub(super) fn manifest(path: &Path) -> Result<Option<StoredRun>, Failure> {
    let is_manifest = path.file_name().is_some_and(|name| name == MANIFEST);
    if !is_manifest && !path.is_dir() {
        return Ok(None);
    }
    let folder = if is_manifest { path.parent().unwrap_or(Path::new("")) } else { path };
    let file = folder.join(MANIFEST);
    let manifest = Manifest::read(&file).ok_or_else(|| {
        Failure::input(format!(
            "{}: there is no manifest of a run: give a folder that `laxity run --out` wrote",
            file.display()
        ))
    })?;
    Ok(Some(StoredRun { folder: folder.to_path_buf(), manifest }))
}

/// A run in a folder.
pub(super) struct StoredRun {
    folder: PathBuf,
    manifest: Manifest,
}

/// Repeats the run, and explains it.
pub(super) fn run(arguments: &Why, stored: &StoredRun) -> Result<Promises, Failure> {
    refuse_traffic(arguments, "a stored run")?;
    let run = stored.command()?;
    let arrivals = run.traffic.arrivals.as_deref();
    let mut others = kinds(arguments);
    others.extend(Kind::known(&run.scheduler));
    let (plan, text) = input::plan_with_text(&run.plan, arrivals, &others)?;
    let plan = traffic::sorted(plan, arrivals, run.traffic.sort)?;
    let plan = traffic::under(plan, run.scheduler.as_deref())?;
    let source = PlanSource {
        text: &text,
        name: &input::shown(&run.plan),
        folder: run.plan.parent().unwrap_or(Path::new("")),
        others: &others,
        under: run.scheduler.as_deref(),
    };
    let changes = changes(arguments, &plan, source)?;
    let opener = traffic::opener(arrivals, run.traffic.sort);
    let traffic = Traffic {
        duration: run.traffic.duration,
        seed: Some(stored.manifest.seed),
        arrivals: opener.as_deref(),
        ..Traffic::default()
    };
    let packets = packets(arguments);
    let question = question(arguments, &packets, &changes, source);
    let result = stored.repeat(&plan, &traffic, question)?;
    answer(arguments, result)
}

impl StoredRun {
    /// The command that was run.
    fn command(&self) -> Result<Run, Failure> {
        let refused = |what: &str| {
            let file = self.folder.join(MANIFEST);
            Failure::input(format!("{}: {what}", file.display()))
        };
        let words: Option<Vec<_>> = self.manifest.command.iter().map(argument).collect();
        let parsed = words.and_then(|words| Arguments::try_parse_from(words).ok());
        let Some(Arguments { command: Command::Run(run) }) = parsed else {
            return Err(refused("its command is none of `laxity run`, whose runs are explained"));
        };
        if run.traffic.seeds.is_some() {
            return Err(refused(
                "it is of several runs: ask of one, by `laxity why PLAN --seed N`",
            ));
        }
        if input::is_stdin(&run.plan)
            || run.traffic.arrivals.as_deref().is_some_and(input::is_stdin)
        {
            return Err(refused("the run read standard input, which is gone: give it files"));
        }
        if !run.plan.is_absolute() && !run.plan.exists() {
            return Err(refused(&format!(
                "its plan is {} as seen from where `laxity run` was started: ask from there",
                run.plan.display()
            )));
        }
        Ok(run)
    }

    /// Repeats the run, and compares it with its packet file if there is one.
    fn repeat<'a>(
        &self,
        plan: &'a Plan,
        traffic: &Traffic<'_>,
        question: Question<'_>,
    ) -> Result<WhyResult<'a>, Failure> {
        let names = ["packets.csv", "packets.parquet"];
        let mut files = self.manifest.files.iter();
        let duration = traffic.duration(plan)?;
        let Some(file) = files.find(|file| names.contains(&&*file.name)) else {
            notes(&[
                "the folder has no packet file that would show whether the run is the same".into()
            ]);
            return Ok(Simulating::one(plan, duration, |progress| {
                why_observed(plan, traffic, question, &mut (), progress)
            })?);
        };
        let path = self.folder.join(&file.name);
        let refused = |error| Failure::refused(path.display(), &error);
        let mut rows = RowComparison::open(&path, plan).map_err(refused)?;
        let result = Simulating::one(plan, duration, |progress| {
            why_observed(plan, traffic, question, &mut rows, progress)
        })?;
        match rows.finish().map_err(refused)? {
            None => Ok(result),
            Some(RowDifference { row, stored, repeated }) => {
                let row_or_none =
                    |row: &str| if row.is_empty() { "none".into() } else { format!("`{row}`") };
                Err(Failure::input(format!(
                    "{}: repeated, the run is another: row {row} is {} in the file and {} now. The \
                     plan or a recording has changed, or Laxity {}, which ran it, did otherwise \
                     than {}",
                    path.display(),
                    row_or_none(&stored),
                    row_or_none(&repeated),
                    self.manifest.version,
                    env!("CARGO_PKG_VERSION"),
                )))
            }
        }
    }
}

/// An argument as it was given.
fn argument(name: &Name) -> Option<OsString> {
    match name {
        Name::Text(text) => Some(text.into()),
        #[cfg(unix)]
        Name::Bytes(bytes) => Some(std::os::unix::ffi::OsStringExt::from_vec(bytes.clone())),
        #[cfg(not(unix))]
        Name::Bytes(_) => None,
    }
}
