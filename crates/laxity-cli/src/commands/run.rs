//! `laxity run`: a plan simulated, promise beside measurement.

pub(super) mod calls;

use std::fs::File;

use laxity_api::{Plan, RunResult, Traffic, run as simulate, run_explained};
use laxity_report::autorate;
use laxity_sim::record::Observer;
use laxity_sim::series::{Series, SeriesRecorder};
use laxity_sim::trace::{CsvTrace, ParquetTrace, PerfettoTrace};

use super::seeds;
use crate::args::{PacketFile, Run};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Simulating;
use crate::terminal::{print_results, remark};
use crate::trace_file::TraceFile;
use crate::{Promises, input, traffic};

/// Carries the command out.
pub(crate) fn run(arguments: &Run) -> Result<Promises, Failure> {
    let given = &arguments.traffic;
    let plan = traffic::plan(
        &arguments.plan,
        given.arrivals.as_deref(),
        given.sort,
        &arguments.scheduler,
    )?;
    let plan = traffic::under(plan, arguments.scheduler.as_deref())?;
    traffic::with(given, |traffic| match given.seeds {
        _ if !plan.requests.is_empty() => calls::run(arguments, &plan, traffic),
        Some(count) => seeds::run(arguments, &plan, traffic, traffic.seeds(&plan, count)?),
        None => {
            let traffic = Traffic { profile: arguments.profile, ..*traffic };
            run_once(arguments, &plan, &traffic)
        }
    })
}

fn run_once(arguments: &Run, plan: &Plan, traffic: &Traffic<'_>) -> Result<Promises, Failure> {
    if plan.network.is_some() {
        // Every source reads it.
        input::keep(arguments.traffic.arrivals.as_deref())?;
    }
    let inputs = arguments.inputs(plan);
    let output = arguments.out.as_deref().map(|folder| Output::new(folder, &inputs)).transpose()?;
    let file =
        arguments.trace.as_deref().map(|path| TraceFile::create(path, &inputs)).transpose()?;
    let (file, written) = file.unzip();
    let mut trace = written.map(|written| PerfettoTrace::new(written, plan));
    let result = match output {
        None => watched(plan, traffic, &mut trace)?,
        Some(mut output) => {
            let (result, series) = recorded(arguments, plan, traffic, &mut output, &mut trace)?;
            let page = result.page(&series);
            let first = &result.judged.summary;
            let rates = autorate::csv(first).map(|rates| ("rate.csv", rates));
            let pages: Vec<_> = [("report.html", page)].into_iter().chain(rates).collect();
            output.finish(&arguments.plan, first, &result, &pages)?;
            result
        }
    };
    if let (Some(file), Some(trace)) = (file, trace) {
        file.finish(trace.finish())?;
    }
    if let Some(how) = result.parallelism() {
        remark(&format!("{how}\n"));
    }
    if let Some(profile) = result.profile() {
        remark(&profile.to_string());
    }
    print_results(arguments.json, arguments.out.as_deref(), &result, || result.text())?;
    Ok(Promises::kept_if(result.judged.verdict.kept))
}

/// Simulates behind a progress bar.
fn watched<'a>(
    plan: &'a Plan,
    traffic: &Traffic<'_>,
    observer: &mut dyn Observer,
) -> Result<RunResult<'a>, Failure> {
    let duration = traffic.duration(plan)?;
    Ok(Simulating::one(plan, duration, |progress| simulate(plan, traffic, observer, progress))?)
}

/// The same, and records why packets waited.
fn explained<'a>(
    plan: &'a Plan,
    traffic: &Traffic<'_>,
    observer: &mut dyn Observer,
) -> Result<RunResult<'a>, Failure> {
    let duration = traffic.duration(plan)?;
    Ok(Simulating::one(plan, duration, |progress| {
        run_explained(plan, traffic, observer, progress)
    })?)
}

/// Simulates with a recorder of series and, if wanted, a packet file, beside an observer.
fn recorded<'a>(
    arguments: &Run,
    plan: &'a Plan,
    traffic: &Traffic<'_>,
    output: &mut Output,
    observer: &mut dyn Observer,
) -> Result<(RunResult<'a>, Series), Failure> {
    let mut series = SeriesRecorder::new(plan);
    let mut both = (&mut series, observer);
    let result = match arguments.packets {
        PacketFile::None => explained(plan, traffic, &mut both)?,
        PacketFile::Csv => {
            let mut trace = CsvTrace::new(create(output, "packets.csv")?, plan);
            let result = explained(plan, traffic, &mut (both, &mut trace))?;
            trace.finish().map_err(|error| output.refused("packets.csv", &error))?;
            result
        }
        PacketFile::Parquet => {
            let file = create(output, "packets.parquet")?;
            let refused = |error| output.refused("packets.parquet", &error);
            let mut trace = ParquetTrace::new(file, plan).map_err(refused)?;
            let result = explained(plan, traffic, &mut (both, &mut trace))?;
            trace.finish().map_err(refused)?;
            result
        }
    };
    Ok((result, series.finish()))
}

fn create(output: &mut Output, name: &str) -> Result<File, Failure> {
    File::create(output.path(name)).map_err(|error| output.refused(name, &error))
}
