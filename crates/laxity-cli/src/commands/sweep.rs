//! `laxity sweep`: a plan under every combination of some values, and many seeds.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use laxity_api::sweep::{self, Job, Shard, Study, Summary};
use laxity_report::quantity;

use crate::args::Sweep;
use crate::failure::Failure;
use crate::{Promises, interrupt, print, print_json, progress};

/// Carries the command out.
pub(crate) fn run(arguments: &Sweep) -> Result<Promises, Failure> {
    sweep::check_figures(&arguments.figure)?;
    let study = Study::read(&arguments.study)?;
    // Every plan is read before anything is written.
    let jobs = Job::all(&study)?;
    let store = interrupt::store(&arguments.out)?;
    let began = Instant::now();
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let (runs, made) =
        progress::during("runs", |heard| sweep::sweep(&study, &jobs, &store, shard, heard))?;
    let wanted = if arguments.json { &[][..] } else { &arguments.figure[..] };
    let summary = Summary::read(&study, &jobs, &store, wanted)?;
    if arguments.json {
        print_json(&summary)?;
        return Ok(Promises::Kept);
    }
    let took = quantity::time(began.elapsed().as_nanos() as f64);
    let mut text = match arguments.shard {
        Some(_) => format!("{made} of the {runs} runs of this part made in {took}"),
        None => format!("{made} of {runs} runs made in {took}"),
    };
    text += &format!(", in {}.\n", arguments.out.join("runs").display());
    let [all, found] = summary.runs;
    if found < all {
        text +=
            &format!("Of {all} runs of the study {found} are there: the tables are of these.\n");
    }
    for figure in &arguments.figure {
        text += &if summary.lines.iter().any(|line| line.figure == *figure) {
            format!("\n{}\n", summary.table(figure))
        } else {
            format!("\nNo run has a figure {figure}; summary.json of a run names them all.\n")
        };
    }
    text += &format!("\nReport: {}\n", report(arguments, &study, &summary)?.display());
    print(&text)?;
    Ok(Promises::Kept)
}

/// Writes the pictures and a page of them beside the runs, and says where the page is.
fn report(arguments: &Sweep, study: &Study, summary: &Summary) -> Result<PathBuf, Failure> {
    let folder = &arguments.out;
    let title = arguments.study.file_stem().map_or("Study".into(), |stem| stem.to_string_lossy());
    let page = folder.join("report.html");
    let written = fs::write(&page, summary.html(study, &title, &arguments.figure));
    written.map_err(|error| Failure::unwritable(folder, &error))?;
    for figure in &arguments.figure {
        let Some(drawn) = summary.figure(&study.space, figure) else { continue };
        let written = fs::write(folder.join(format!("{figure}.svg")), drawn.svg());
        written.map_err(|error| Failure::unwritable(folder, &error))?;
    }
    Ok(page)
}
