//! `laxity fit`: arrival curves read off recorded traffic.

use std::fs;
use std::io::Write;
use std::path::Path;

use laxity_api::fit::{FitResult, fit};
use laxity_api::{Plan, remarks};
use laxity_plan::file;
use laxity_plan::rewrite::Change;
use tempfile::NamedTempFile;

use crate::args::Fit;
use crate::failure::Failure;
use crate::{Promises, show, traffic};

/// Carries the command out.
pub(crate) fn run(arguments: &Fit) -> Result<Promises, Failure> {
    if arguments.write && arguments.plan.as_os_str() == "-" {
        return Err(Failure::input("--write changes a plan file, and this one is standard input"));
    }
    let plan = traffic::plan(&arguments.plan, arguments.arrivals.as_deref(), arguments.sort, [])?;
    let opener = traffic::opener(arguments.arrivals.as_deref(), arguments.sort);
    let opener = opener.as_deref();
    let fitted = fit(&plan, opener, arguments.headroom)?;
    let changes =
        if arguments.write { Some(into_plan(&arguments.plan, &plan, &fitted)?) } else { None };
    show(arguments.json, &fitted.classes(&plan), || {
        let notes = remarks(&fitted.remarks);
        let notes: String = notes.iter().map(|note| format!("Note: {note}.\n")).collect();
        let changes = changes.map(|changes| changes_text(&changes)).unwrap_or_default();
        fitted.text(&plan) + &notes + &changes
    })?;
    Ok(Promises::Kept)
}

/// Gives the classes of a plan file their fitted curves, all of them or none, and tells what that
/// changed.
fn into_plan(path: &Path, plan: &Plan, fitted: &FitResult) -> Result<Vec<Change>, Failure> {
    let name = path.display().to_string();
    let refused = |error: std::io::Error| Failure::refused(&name, &error);
    // What a link stands for is changed, and not the link.
    let target = fs::canonicalize(path).map_err(refused)?;
    let text = file::text(&target, &name)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let (edited, changes) = fitted.into_plan(plan, &text, &name, folder)?;
    if !changes.is_empty() {
        replace(&target, &edited).map_err(refused)?;
    }
    Ok(changes)
}

/// Writes a file beside its place and moves it there.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let mut beside = NamedTempFile::new_in(file.parent().unwrap_or(Path::new(".")))?;
    beside.write_all(text.as_bytes())?;
    beside.as_file().set_permissions(fs::metadata(file)?.permissions())?;
    beside.persist(file)?;
    Ok(())
}

/// The changes for people.
fn changes_text(changes: &[Change]) -> String {
    if changes.is_empty() {
        return "The plan says this already: nothing was changed.\n".into();
    }
    let lines = changes.iter().map(|Change { class, old, new }| {
        let lines = |sign: char, value: &str| -> String {
            format!("arrival = {value}").lines().map(|line| format!("{sign} {line}\n")).collect()
        };
        let old = old.as_deref().map(|old| lines('-', old)).unwrap_or_default();
        format!("Changed in class {class}:\n{old}{}\n", lines('+', new))
    });
    lines.collect()
}
