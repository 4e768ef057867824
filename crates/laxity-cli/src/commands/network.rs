//! `laxity run` and `laxity compare` of plans with a network.

use std::fs::File;

use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use laxity_report::network::framing::FramingProof;
use laxity_report::network::proof::Proof;
use laxity_report::verdict::Broken;
use laxity_report::{network, quantity};
use laxity_sim::network::{NetworkRun, NetworkSummary, Watcher};
use laxity_sim::series::{Series, SeriesRecorder};
use laxity_sim::trace::HopTrace;

use crate::args::{Compare, PacketFile, Run, Traffic};
use crate::failure::Failure;
use crate::output::{Output, Ran};
use crate::{Promises, print, print_json, progress, traffic};

/// `laxity run`.
pub fn run(arguments: &Run, plan: &Plan) -> Result<Promises, Failure> {
    let scheduler = traffic::scheduler(plan, arguments.scheduler.as_deref())?;
    let summary = match &arguments.out {
        None => simulate(plan, scheduler, &arguments.traffic, &mut ())?,
        Some(folder) => {
            let mut output = Output::new(folder)?;
            let (summary, series) = traced(arguments, plan, scheduler, &mut output)?;
            output.write_json("summary.json", &summary)?;
            output.write("report.html", &network::html(plan, scheduler, &summary, &series))?;
            output.finish(&arguments.plan.display().to_string(), &ran(&summary))?;
            summary
        }
    };
    let refused = refused(plan, scheduler);
    if arguments.json {
        print_json(&summary)?;
    } else {
        print(&text(&summary, refused.as_deref(), arguments))?;
    }
    let broken = network::broken_promises(&summary);
    Ok(Promises::kept_if(refused.is_none() && broken.is_empty()))
}

/// `laxity compare`.
pub fn compare(
    arguments: &Compare,
    plan: &Plan,
    schedulers: &[SchedulerSpec],
) -> Result<Promises, Failure> {
    let output = arguments.out.as_deref().map(Output::new).transpose()?;
    let mut runs: Vec<(NetworkSummary, Series)> = Vec::new();
    for &scheduler in schedulers {
        let mut series = SeriesRecorder::new(plan);
        let summary = simulate(plan, scheduler, &arguments.traffic, &mut series)?;
        runs.push((summary, series.finish()));
    }
    let summaries: Vec<_> = runs.iter().map(|(summary, _)| summary.clone()).collect();
    if let Some(mut output) = output {
        let views: Vec<_> = runs.iter().map(|(summary, series)| (summary, series)).collect();
        output.write_json("summary.json", &summaries)?;
        output.write("report.html", &network::compare_html(&views))?;
        output.finish(&arguments.plan.display().to_string(), &ran(&summaries[0]))?;
    }
    if arguments.json {
        print_json(&summaries)?;
    } else {
        let report = arguments.out.as_ref();
        let report = report.map(|out| format!("Report: {}\n", out.join("report.html").display()));
        let table = network::compare_table(&summaries);
        let broken = summaries.iter().flat_map(|summary| {
            let told = |promise| format!("{}: BROKEN: {promise}\n", summary.scheduler);
            broken_proofs(summary).map(told)
        });
        let broken: String = broken.collect();
        print(&format!("{table}\n{broken}{}", report.unwrap_or_default()))?;
    }
    let kept = |summary| broken_proofs(summary).next().is_none();
    Ok(Promises::kept_if(summaries.iter().all(kept)))
}

/// What was proved and did not hold. Under other schedulers than the plan's own, nothing else is promised.
fn broken_proofs(summary: &NetworkSummary) -> impl Iterator<Item = Broken> + use<> {
    network::broken_promises(summary).into_iter().filter(|promise| promise.proved)
}

fn simulate<W: Watcher>(
    plan: &Plan,
    scheduler: SchedulerSpec,
    traffic: &Traffic,
    watcher: &mut W,
) -> Result<NetworkSummary, Failure> {
    if traffic.arrivals.is_some() {
        return Err(Failure::input(
            "--arrivals feeds one link, and the plan is a network: give it [[source]] tables",
        ));
    }
    if plan.sources.is_empty() {
        return Err(Failure::input(
            "the plan has no [[source]], so nothing would arrive: add one with a `path`",
        ));
    }
    let (seed, duration) = (traffic::seed(plan, traffic), traffic::duration(plan, traffic)?);
    let duration = duration.unwrap_or(traffic::DEFAULT_DURATION);
    let bar = progress::through(scheduler.name(), Some(duration));
    let run = NetworkRun { plan, scheduler, duration, seed };
    let summary = run.simulate(watcher, &mut |now: Nanos| bar.set_position(now.0));
    bar.finish_and_clear();
    Ok(summary?)
}

/// Simulates with a recorder of series and, if wanted, a packet file.
fn traced(
    arguments: &Run,
    plan: &Plan,
    scheduler: SchedulerSpec,
    output: &mut Output,
) -> Result<(NetworkSummary, Series), Failure> {
    let network = plan.network.as_ref().expect("a plan with a network");
    let mut series = SeriesRecorder::new(plan);
    let summary = match arguments.packets {
        PacketFile::None => simulate(plan, scheduler, &arguments.traffic, &mut series)?,
        PacketFile::Csv => {
            let path = output.path("packets.csv");
            let file = File::create(path).map_err(|error| output.refused("packets.csv", &error))?;
            let mut trace = HopTrace::new(file, plan, network);
            let watcher = &mut (&mut series, &mut trace);
            let summary = simulate(plan, scheduler, &arguments.traffic, watcher)?;
            trace.finish().map_err(|error| output.refused("packets.csv", &error))?;
            summary
        }
        PacketFile::Parquet => {
            return Err(Failure::input(
                "--packets parquet is for single links: a network takes csv or none",
            ));
        }
    };
    Ok((summary, series.finish()))
}

fn ran(summary: &NetworkSummary) -> Ran<'_> {
    Ran { scheduler: &summary.scheduler, seed: summary.seed, duration_ns: summary.duration_ns }
}

/// Why a plan is not admitted.
fn refused(plan: &Plan, scheduler: SchedulerSpec) -> Option<String> {
    if let SchedulerSpec::Tdp(spec) = scheduler {
        let proof = FramingProof::of(plan, &spec);
        return (!proof.admitted).then_some(proof.statement);
    }
    let proof = Proof::of(plan, scheduler);
    (proof.admitted == Some(false)).then_some(proof.statement)
}

fn text(summary: &NetworkSummary, refused: Option<&str>, arguments: &Run) -> String {
    let mut text = format!(
        "{}\n{}, {} simulated, seed {}, {} hops taken\n\n{}\n",
        summary.title.as_deref().unwrap_or("Network"),
        summary.scheduler,
        quantity::time(summary.duration_ns as f64),
        summary.seed,
        quantity::count(summary.hop_departures),
        network::tables(summary),
    );
    if let Some(statement) = refused {
        text += &format!("\nNOT ADMITTED. {statement}\n");
    }
    let broken = network::broken_promises(summary);
    if broken.is_empty() && network::promised_anything(summary) {
        text += "\nEvery promise was kept.\n";
    }
    for promise in broken {
        let word = if promise.proved { "BROKEN" } else { "LATE" };
        text += &format!("\n{word}: {promise}\n");
    }
    if let Some(folder) = &arguments.out {
        text += &format!("\nReport: {}\n", folder.join("report.html").display());
    }
    text
}
