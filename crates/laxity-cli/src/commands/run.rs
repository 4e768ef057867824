//! `laxity run`: a plan simulated, promise beside measurement.

use std::fs::File;

use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use laxity_report::admission::Admission;
use laxity_report::html::{ReportInput, html};
use laxity_report::{quantity, table, verdict};
use laxity_sim::engine::Outcome;
use laxity_sim::record::Observer;
use laxity_sim::series::{Series, SeriesRecorder};
use laxity_sim::summary::Summary;
use laxity_sim::trace::{CsvTrace, ParquetTrace};

use super::network;
use crate::args::{PacketFile, Run};
use crate::failure::Failure;
use crate::output::Output;
use crate::{Promises, print, print_json, traffic};

/// Carries the command out.
pub fn run(arguments: &Run) -> Result<Promises, Failure> {
    let plan = Plan::read(&arguments.plan)?;
    if plan.network.is_some() {
        return network::run(arguments, &plan);
    }
    let scheduler = traffic::scheduler(&plan, arguments.scheduler.as_deref())?;
    let admission = Admission::of(&plan, scheduler);
    let outcome = match &arguments.out {
        None => traffic::simulate(&plan, scheduler, &arguments.traffic, &mut ())?,
        Some(folder) => {
            let mut output = Output::new(folder)?;
            let (outcome, series) = traced(arguments, &plan, scheduler, &mut output)?;
            let report = report(&plan, admission.as_ref(), &outcome.summary, &series);
            output.write_json("summary.json", &outcome.summary)?;
            output.write("report.html", &report)?;
            output.finish(&arguments.plan.display().to_string(), &(&outcome.summary).into())?;
            outcome
        }
    };
    let refused = admission.filter(|admission| admission.admitted == Some(false));
    if arguments.json {
        print_json(&outcome.summary)?;
    } else {
        print(&text(&plan, &outcome, refused.as_ref(), arguments))?;
    }
    let broken = verdict::broken_promises(&outcome.summary);
    Ok(Promises::kept_if(refused.is_none() && broken.is_empty()))
}

/// Simulates with a recorder of series and, if wanted, a packet file.
fn traced(
    arguments: &Run,
    plan: &Plan,
    scheduler: SchedulerSpec,
    output: &mut Output,
) -> Result<(Outcome, Series), Failure> {
    let names: Vec<_> = plan.classes.iter().map(|class| class.name.clone()).collect();
    let mut series = SeriesRecorder::new(plan);
    let mut simulate = |trace: &mut dyn Observer| {
        let mut observers: Vec<&mut dyn Observer> = vec![&mut series, trace];
        traffic::simulate(plan, scheduler, &arguments.traffic, &mut observers)
    };
    let outcome = match arguments.packets {
        PacketFile::None => simulate(&mut ())?,
        PacketFile::Csv => {
            let mut trace = CsvTrace::new(create(output, "packets.csv")?, names);
            let outcome = simulate(&mut trace)?;
            trace.finish().map_err(|error| output.refused("packets.csv", &error))?;
            outcome
        }
        PacketFile::Parquet => {
            let file = create(output, "packets.parquet")?;
            let refused = |error| output.refused("packets.parquet", &error);
            let mut trace = ParquetTrace::new(file, names).map_err(refused)?;
            let outcome = simulate(&mut trace)?;
            trace.finish().map_err(refused)?;
            outcome
        }
    };
    Ok((outcome, series.finish()))
}

fn create(output: &mut Output, name: &str) -> Result<File, Failure> {
    File::create(output.path(name)).map_err(|error| output.refused(name, &error))
}

/// An admission test's answer comes with the capacity that it found.
fn report(
    plan: &Plan,
    admission: Option<&Admission>,
    summary: &Summary,
    series: &Series,
) -> String {
    let curves = admission.and_then(|admission| admission.figure(plan));
    let admission = admission.map(|admission| admission.view(plan));
    html(&ReportInput { summary, series, admission, curves, packets: Vec::new() })
}

fn text(plan: &Plan, outcome: &Outcome, refused: Option<&Admission>, arguments: &Run) -> String {
    let summary = &outcome.summary;
    let mut text = format!(
        "{}\n{} on {}, {} of traffic, seed {}, {} utilized\n\n{}\n\n",
        summary.title.as_deref().unwrap_or("Simulation"),
        summary.scheduler,
        quantity::rate(summary.link.rate_bps as f64),
        quantity::time(summary.duration_ns as f64),
        summary.seed,
        quantity::percent(summary.link.utilization),
        table::class_table(summary),
    );
    if let Some(admission) = refused {
        text += &format!("NOT ADMITTED. {}\n", admission.statement);
    }
    let broken = verdict::broken_promises(summary);
    match (verdict::promised_anything(summary), broken.is_empty()) {
        (false, _) => text += "No class was promised a delay.\n",
        (true, true) => text += "Every promise was kept.\n",
        (true, false) => {
            for promise in broken {
                let word = if promise.proved { "BROKEN" } else { "LATE" };
                text += &format!("{word}: {promise}\n");
            }
        }
    }
    for remark in traffic::nonconforming(plan, summary) {
        text += &format!("Note: {remark}.\n");
    }
    for remark in traffic::remarks(&outcome.remarks) {
        text += &format!("Note: {remark}.\n");
    }
    if let Some(folder) = &arguments.out {
        text += &format!("Report: {}\n", folder.join("report.html").display());
    }
    text
}
