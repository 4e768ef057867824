//! `laxity run`: a plan simulated, promise beside measurement.

use std::fs::File;

use laxity_api::{Judged, Plan, Ran, Traffic, nonconforming, remarks, run as simulate};
use laxity_report::html::{ReportInput, html};
use laxity_report::visible::line;
use laxity_report::{quantity, table};
use laxity_sim::record::Observer;
use laxity_sim::series::{Series, SeriesRecorder};
use laxity_sim::summary::Summary;
use laxity_sim::trace::{CsvTrace, ParquetTrace};

use super::{network, seeds};
use crate::args::{PacketFile, Run};
use crate::failure::Failure;
use crate::output::Output;
use crate::{Promises, print, print_json, progress, traffic};

/// Carries the command out.
pub fn run(arguments: &Run) -> Result<Promises, Failure> {
    let given = &arguments.traffic;
    let plan = traffic::plan(&arguments.plan, given.arrivals.as_deref(), given.sort)?;
    let plan = traffic::under(plan, arguments.scheduler.as_deref())?;
    traffic::with(given, |traffic| match (given.seeds, plan.networked()) {
        (Some(count), _) => seeds::run(arguments, &plan, traffic, traffic.seeds(&plan, count)?),
        (None, Some(networked)) => network::run(arguments, networked, traffic),
        (None, None) => run_link(arguments, &plan, traffic),
    })
}

fn run_link(arguments: &Run, plan: &Plan, traffic: &Traffic<'_>) -> Result<Promises, Failure> {
    let ran = match &arguments.out {
        None => watched(plan, traffic, &mut ())?,
        Some(folder) => {
            let mut output = Output::new(folder, &arguments.inputs(plan))?;
            let (ran, series) = traced(arguments, plan, traffic, &mut output)?;
            let admission = ran.admission.as_ref();
            let report = html(&ReportInput {
                judged: &ran.judged,
                series: &series,
                admission: admission.map(|admission| admission.view(plan)),
                curves: admission.and_then(|admission| admission.figure(plan)),
                packets: Vec::new(),
            });
            output.write_json("summary.json", &ran.judged)?;
            output.write("report.html", &report)?;
            output.finish(&arguments.plan, &(&ran.judged.summary).into())?;
            ran
        }
    };
    if arguments.json {
        print_json(&ran.judged)?;
    } else {
        print(&text(plan, &ran, arguments))?;
    }
    Ok(Promises::kept_if(ran.judged.verdict.kept))
}

/// Simulates behind a progress bar.
fn watched(
    plan: &Plan,
    traffic: &Traffic<'_>,
    observer: &mut dyn Observer,
) -> Result<Ran, Failure> {
    let bar = progress::through(plan.scheduler.name(), traffic.duration(plan)?);
    let ran = simulate(plan, traffic, observer, &mut traffic::moving(&bar));
    bar.finish_and_clear();
    Ok(ran?)
}

/// Simulates with a recorder of series and, if wanted, a packet file.
fn traced(
    arguments: &Run,
    plan: &Plan,
    traffic: &Traffic<'_>,
    output: &mut Output,
) -> Result<(Ran, Series), Failure> {
    let mut series = SeriesRecorder::new(plan);
    let mut simulate = |trace: &mut dyn Observer| watched(plan, traffic, &mut (&mut series, trace));
    let ran = match arguments.packets {
        PacketFile::None => simulate(&mut ())?,
        PacketFile::Csv => {
            let mut trace = CsvTrace::new(create(output, "packets.csv")?, plan);
            let ran = simulate(&mut trace)?;
            trace.finish().map_err(|error| output.refused("packets.csv", &error))?;
            ran
        }
        PacketFile::Parquet => {
            let file = create(output, "packets.parquet")?;
            let refused = |error| output.refused("packets.parquet", &error);
            let names = plan.classes.iter().map(|class| class.name.clone()).collect();
            let mut trace = ParquetTrace::new(file, names).map_err(refused)?;
            let ran = simulate(&mut trace)?;
            trace.finish().map_err(refused)?;
            ran
        }
    };
    Ok((ran, series.finish()))
}

fn create(output: &mut Output, name: &str) -> Result<File, Failure> {
    File::create(output.path(name)).map_err(|error| output.refused(name, &error))
}

/// How long traffic arrived, and how long was measured if that is longer.
fn lasted(summary: &Summary) -> String {
    let traffic = quantity::time(summary.traffic_ns as f64);
    let measured = quantity::time(summary.duration_ns as f64);
    match traffic == measured {
        true => format!("{traffic} of traffic"),
        false => format!("{traffic} of traffic, measured for {measured}"),
    }
}

fn text(plan: &Plan, ran: &Ran, arguments: &Run) -> String {
    let Judged { summary, verdict } = &ran.judged;
    let head = format!(
        "{}\n{} on {}, {}, seed {}, {} utilized\n\n",
        line(summary.title.as_deref().unwrap_or("Simulation")),
        summary.scheduler,
        quantity::rate(summary.link.rate_bps as f64),
        lasted(summary),
        summary.seed,
        quantity::percent(summary.link.utilization),
    );
    // The table is nearly all of the text, and may be long: it is not copied.
    let mut text = table::class_table(summary);
    text.insert_str(0, &head);
    text += &format!("\n\n{verdict}");
    for remark in nonconforming(plan, summary) {
        text += &format!("Note: {remark}.\n");
    }
    for remark in remarks(&ran.remarks) {
        text += &format!("Note: {remark}.\n");
    }
    if let Some(folder) = &arguments.out {
        text += &format!("Report: {}\n", folder.join("report.html").display());
    }
    text
}
