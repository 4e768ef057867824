//! `laxity tune`: values of a plan's keys that are small, and with which all that has to hold does.

use std::fs;
use std::path::Path;

use laxity_api::tune::{TuneResult, Tuning, tune};

use crate::args::Tune;
use crate::failure::Failure;
use crate::input::Inputs;
use crate::{Promises, interrupt, progress, show};

const PLAN: &str = "plan.toml";
const REPORT: &str = "report.html";

/// Carries the command out.
pub(crate) fn run(arguments: &Tune) -> Result<Promises, Failure> {
    let tuning = Tuning::read(&arguments.file)?;
    let folder = &arguments.out;
    guard(&arguments.file, &tuning, folder)?;
    let store = interrupt::store(folder)?;
    let tuned = progress::during("runs", |heard| tune(&tuning, &store, heard))?;
    write(&tuning, &tuned, arguments).map_err(|error| Failure::unwritable(folder, &error))?;
    show(arguments.json, &tuned, || {
        let mut text = tuned.text();
        if tuned.found {
            text += &format!("\nPlan: {}\n", folder.join(PLAN).display());
        }
        text + &format!("Report: {}\n", folder.join(REPORT).display())
    })?;
    Ok(Promises::kept_if(tuned.found))
}

/// Refuses a folder in which a file that is read would be replaced.
fn guard(file: &Path, tuning: &Tuning, folder: &Path) -> Result<(), Failure> {
    let (plan, _) = tuning.plan_at(&tuning.start())?;
    for read in [file, tuning.plan()] {
        Inputs::new(read, &plan, None).spares(folder, [PLAN, REPORT])?;
    }
    Ok(())
}

/// Writes the plan, if one is found, a page, and its pictures beside the runs.
fn write(tuning: &Tuning, tuned: &TuneResult, arguments: &Tune) -> std::io::Result<()> {
    let folder = &arguments.out;
    if let Some(text) = tuned.text_in(folder)? {
        fs::write(folder.join(PLAN), text)?;
    }
    let title = arguments.file.file_stem().map_or("Search".into(), |stem| stem.to_string_lossy());
    fs::write(folder.join(REPORT), tuned.html(tuning, &title))?;
    for at in 0..tuning.goals.len() {
        let Some(drawn) = tuned.figure(tuning, at) else { continue };
        fs::write(folder.join(format!("goal-{}.svg", at + 1)), drawn.svg())?;
    }
    Ok(())
}
