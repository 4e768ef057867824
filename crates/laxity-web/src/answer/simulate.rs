//! Simulations: a run, and the same arrivals under several schedulers.

use std::io;
use std::ops::ControlFlow;

use laxity_api::{Comparison, Opener, Plan, RunResult, Traffic, run_compared, run_explained};
use laxity_plan::discipline::Kind;
use laxity_plan::model::{Hops, Recording, Source};
use laxity_sim::error::SimError;
use laxity_sim::record::Observer;
use laxity_sim::series::SeriesRecorder;
use laxity_sim::source::read_recording;
use laxity_sim::trace::{CsvTrace, ParquetTrace};

use super::packets::MemoryFile;
use super::{Answer, Answered, json, read};
use crate::fault::Fault;
use crate::files::Files;
use crate::question::{PacketFile, Simulated};

/// One run, as a page or as its packets.
pub(super) fn run(asked: &Simulated, files: &Files, progress: &mut dyn FnMut(f64)) -> Answered {
    let plan = read(&asked.plan, files, &[])?;
    let Some(format) = asked.packets else {
        let mut series = SeriesRecorder::new(&plan);
        let result = simulated(asked, files, &plan, &mut series, progress)?;
        let answer = Answer::Result {
            kept: Some(result.judged.verdict.kept),
            json: json(&result),
            page: result.page(&series.finish()),
            notes: result.remarks(),
        };
        return Ok((answer, Vec::new()));
    };
    let file = MemoryFile::default();
    let refused = |error: io::Error| Fault::new(error.to_string());
    match format {
        PacketFile::Csv => {
            let mut trace = CsvTrace::new(file.clone(), &plan);
            simulated(asked, files, &plan, &mut trace, progress)?;
            trace.finish().map_err(refused)?;
        }
        PacketFile::Parquet => {
            let mut trace = ParquetTrace::new(file.clone(), &plan).map_err(refused)?;
            simulated(asked, files, &plan, &mut trace, progress)?;
            trace.finish().map_err(refused)?;
        }
    }
    Ok((Answer::Packets, file.take()))
}

fn simulated<'a>(
    asked: &Simulated,
    files: &Files,
    plan: &'a Plan,
    observer: &mut dyn Observer,
    progress: &mut dyn FnMut(f64),
) -> Result<RunResult<'a>, Fault> {
    with_traffic(asked, files, plan, |traffic| {
        let duration = traffic.duration(plan)?;
        let mut watch = watched(duration.map(|whole| whole.0), progress);
        run_explained(plan, traffic, observer, &mut watch)
    })
}

/// The same arrivals under several schedulers.
pub(super) fn compare(
    asked: &Simulated,
    schedulers: &[String],
    files: &Files,
    progress: &mut dyn FnMut(f64),
) -> Answered {
    if schedulers.is_empty() {
        return Err(Fault::new("choose at least one scheduler to compare"));
    }
    let kinds = Kind::known(schedulers);
    let plan = read(&asked.plan, files, &kinds)?;
    let plans = schedulers.iter().map(|name| plan.clone().under(name));
    let plans = plans.collect::<Result<Vec<_>, _>>();
    let plans = plans.map_err(|unknown| Fault::new(unknown.to_string()))?;
    let (mut results, mut series) = (Vec::new(), Vec::new());
    for (at, one) in plans.iter().enumerate() {
        let mut recorder = SeriesRecorder::new(one);
        let mut whole = |share: f64| progress((at as f64 + share) / plans.len() as f64);
        results.push(with_traffic(asked, files, one, |traffic| {
            let duration = traffic.duration(one)?;
            let mut watch = watched(duration.map(|whole| whole.0), &mut whole);
            run_compared(&plan, one, traffic, &mut recorder, &mut watch)
        })?);
        series.push(recorder.finish());
    }
    let notes = results.last().map(RunResult::remarks).unwrap_or_default();
    let compared: Comparison = results.into_iter().collect();
    let answer = Answer::Result {
        kept: Some(compared.kept()),
        json: json(&compared),
        page: compared.page(&series),
        notes,
    };
    Ok((answer, Vec::new()))
}

/// Tells which share of the whole, in ns, is simulated.
fn watched(
    whole: Option<u64>,
    progress: &mut dyn FnMut(f64),
) -> impl FnMut(laxity_api::ProgressPoint) -> ControlFlow<()> {
    move |reached| {
        if let Some(whole) = whole {
            progress((reached.now.0 as f64 / whole as f64).min(1.0));
        }
        ControlFlow::Continue(())
    }
}

/// Asks with the traffic that the page says: its file in place of the plan's sources, or the file
/// that the plan's one recording names.
fn with_traffic<T>(
    asked: &Simulated,
    files: &Files,
    plan: &Plan,
    ask: impl FnOnce(&Traffic<'_>) -> Result<T, laxity_api::Error>,
) -> Result<T, Fault> {
    let given = asked.arrivals.as_ref().map(|name| Recording {
        file: name.into(),
        path: Hops::default(),
        filter: None,
        sort: false,
    });
    let recording = match given {
        Some(given) => Some(given),
        None => named(plan, files)?,
    };
    let open = recording.map(|recording| {
        move |plan: &Plan, source| {
            let unread = |source| SimError::System { path: recording.file.clone(), source };
            let bytes = files.open(&recording.file).map_err(unread)?;
            read_recording(bytes, &recording, plan, source)
        }
    });
    let traffic = Traffic {
        duration: asked.duration()?,
        seed: asked.seed()?,
        arrivals: open.as_ref().map(|open| open as &Opener<'_>),
        ..Traffic::default()
    };
    Ok(ask(&traffic)?)
}

/// The recording that is a plan's one source, if it has any.
fn named(plan: &Plan, files: &Files) -> Result<Option<Recording>, Fault> {
    let recording = |source: &Source| match source {
        Source::Recording(recording) => Some(recording.clone()),
        _ => None,
    };
    let Some(first) = plan.sources.iter().find_map(recording) else { return Ok(None) };
    if plan.sources.len() > 1 || plan.network.is_some() {
        return Err(Fault::new(
            "the plan reads a recording beside other sources, which a page cannot do yet: use `laxity run`",
        ));
    }
    if files.open(&first.file).is_err() {
        let file = first.file.display();
        return Err(Fault::new(format!(
            "the plan reads the recording {file}: drop that file on this page, and it is read here"
        )));
    }
    Ok(Some(first))
}
