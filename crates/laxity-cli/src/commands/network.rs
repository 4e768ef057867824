//! `laxity run` and `laxity compare` of plans with a network.

use std::fs::File;

use laxity_api::{Judged, NetworkRan, Networked, Plan, Traffic, remarks, run_network};
use laxity_report::visible::line;
use laxity_report::{network, quantity, verdict};
use laxity_sim::network::NetworkSummary;
use laxity_sim::record::Observer;
use laxity_sim::series::{Series, SeriesRecorder};
use laxity_sim::trace::CsvTrace;

use crate::args::{Compare, PacketFile, Run};
use crate::failure::Failure;
use crate::output::{Output, Ran};
use crate::{Promises, print, print_json, progress, traffic};

/// `laxity run`.
pub fn run(arguments: &Run, on: Networked<'_>, traffic: &Traffic<'_>) -> Result<Promises, Failure> {
    let (judged, told) = match &arguments.out {
        None => {
            let ran = watched(on, traffic, &mut ())?;
            (ran.judged, remarks(&ran.remarks))
        }
        Some(folder) => {
            let mut output = Output::new(folder, &arguments.inputs(on.plan))?;
            let (NetworkRan { on, judged, admission, remarks: held }, series) =
                traced(arguments, on, traffic, &mut output)?;
            let report = network::html(&on, &admission, &judged, &series);
            output.write_json("summary.json", &judged)?;
            output.write("report.html", &report)?;
            output.finish(&arguments.plan, &ran(&judged.summary))?;
            (judged, remarks(&held))
        }
    };
    if arguments.json {
        print_json(&judged)?;
    } else {
        print(&text(&judged, &told, arguments))?;
    }
    Ok(Promises::kept_if(judged.verdict.kept))
}

/// `laxity compare`.
pub fn compare(
    arguments: &Compare,
    plan: &Plan,
    compared: &[Plan],
    traffic: &Traffic<'_>,
) -> Result<Promises, Failure> {
    let inputs = arguments.inputs(plan);
    let output = arguments.out.as_deref().map(|folder| Output::new(folder, &inputs)).transpose()?;
    let (mut runs, mut series): (Vec<Judged<NetworkSummary>>, Vec<Series>) = Default::default();
    let mut notes = Vec::new();
    for one in compared.iter().filter_map(Plan::networked) {
        let mut recorder = SeriesRecorder::new(one.plan);
        let bar = progress::through(one.plan.scheduler.name(), traffic.duration(one.plan)?);
        let moving = &mut traffic::moving(&bar);
        let ran = NetworkRan::in_comparison(plan, one, traffic, &mut recorder, moving);
        bar.finish_and_clear();
        let ran = ran?;
        notes = remarks(&ran.remarks);
        runs.push(ran.judged);
        series.push(recorder.finish());
    }
    let summaries: Vec<_> = runs.iter().map(|run| &run.summary).collect();
    if let Some(mut output) = output {
        output.write_json("summary.json", &runs)?;
        output.write("report.html", &network::compare_html(&runs, &series))?;
        output.finish(&arguments.plan, &ran(summaries[0]))?;
    }
    if arguments.json {
        print_json(&runs)?;
    } else {
        let mut text = network::compare_table(&summaries) + "\n\n";
        for line in verdict::compared(&verdict::named(&runs)) {
            text += &format!("{line}\n");
        }
        for note in notes {
            text += &format!("Note: {note}.\n");
        }
        if let Some(folder) = &arguments.out {
            text += &format!("Report: {}\n", folder.join("report.html").display());
        }
        print(&text)?;
    }
    Ok(runs.iter().collect())
}

/// Simulates behind a progress bar.
fn watched<'a, O: Observer>(
    on: Networked<'a>,
    traffic: &Traffic<'_>,
    observer: &mut O,
) -> Result<NetworkRan<'a>, Failure> {
    let bar = progress::through(on.plan.scheduler.name(), traffic.duration(on.plan)?);
    let ran = run_network(on, traffic, observer, &mut traffic::moving(&bar));
    bar.finish_and_clear();
    Ok(ran?)
}

/// Simulates with a recorder of series and, if wanted, a packet file.
fn traced<'a>(
    arguments: &Run,
    on: Networked<'a>,
    traffic: &Traffic<'_>,
    output: &mut Output,
) -> Result<(NetworkRan<'a>, Series), Failure> {
    let mut series = SeriesRecorder::new(on.plan);
    let ran = match arguments.packets {
        PacketFile::None => watched(on, traffic, &mut series)?,
        PacketFile::Csv => {
            let path = output.path("packets.csv");
            let file = File::create(path).map_err(|error| output.refused("packets.csv", &error))?;
            let mut trace = CsvTrace::new(file, on.plan);
            let ran = watched(on, traffic, &mut (&mut series, &mut trace))?;
            trace.finish().map_err(|error| output.refused("packets.csv", &error))?;
            ran
        }
        PacketFile::Parquet => {
            return Err(Failure::input(
                "--packets parquet is for single links: a network takes csv or none",
            ));
        }
    };
    Ok((ran, series.finish()))
}

fn ran(summary: &NetworkSummary) -> Ran<'_> {
    Ran { scheduler: &summary.scheduler, seed: summary.seed, duration_ns: summary.duration_ns }
}

fn text(judged: &Judged<NetworkSummary>, notes: &[String], arguments: &Run) -> String {
    let Judged { summary, verdict } = judged;
    let mut text = format!(
        "{}\n{}, {} simulated, seed {}, {} hops taken\n\n{}\n\n{verdict}",
        line(summary.title.as_deref().unwrap_or("Network")),
        summary.scheduler,
        quantity::time(summary.duration_ns as f64),
        summary.seed,
        quantity::count(summary.hop_departures),
        network::tables(summary),
    );
    for note in notes {
        text += &format!("Note: {note}.\n");
    }
    if let Some(folder) = &arguments.out {
        text += &format!("Report: {}\n", folder.join("report.html").display());
    }
    text
}
