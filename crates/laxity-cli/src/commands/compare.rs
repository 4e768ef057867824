//! `laxity compare`: the same arrivals through several schedulers.

use laxity_api::{Judged, Plan, Ran, Traffic, nonconforming, remarks};
use laxity_report::html::compare_html;
use laxity_report::{figures, table, verdict};
use laxity_sim::series::{Series, SeriesRecorder};
use laxity_sim::summary::Summary;

use super::{network, seeds};
use crate::args::Compare;
use crate::failure::Failure;
use crate::output::Output;
use crate::{Promises, input, print, print_json, progress, traffic};

/// Carries the command out.
pub fn run(arguments: &Compare) -> Result<Promises, Failure> {
    let given = &arguments.traffic;
    let plan = traffic::plan(&arguments.plan, given.arrivals.as_deref(), given.sort)?;
    let compared = traffic::under_each(&plan, &arguments.schedulers)?;
    traffic::with(given, |traffic| match given.seeds {
        Some(count) => {
            let seeds = traffic.seeds(&plan, count)?;
            seeds::compare(arguments, &plan, &compared, traffic, seeds)
        }
        None if plan.network.is_some() => network::compare(arguments, &plan, &compared, traffic),
        None => compare_links(arguments, &plan, &compared, traffic),
    })
}

fn compare_links(
    arguments: &Compare,
    plan: &Plan,
    compared: &[Plan],
    traffic: &Traffic<'_>,
) -> Result<Promises, Failure> {
    let inputs = arguments.inputs(plan);
    let output = arguments.out.as_deref().map(|folder| Output::new(folder, &inputs)).transpose()?;
    input::keep(arguments.traffic.arrivals.as_deref())?;

    let (mut runs, mut series): (Vec<Judged<Summary>>, Vec<Series>) = Default::default();
    let mut notes = Vec::new();
    for one in compared {
        let mut recorder = SeriesRecorder::new(one);
        let bar = progress::through(one.scheduler.name(), traffic.duration(one)?);
        let moving = &mut traffic::moving(&bar);
        let ran = Ran::in_comparison(plan, one, traffic, &mut recorder, moving);
        bar.finish_and_clear();
        let ran = ran?;
        notes = remarks(&ran.remarks);
        notes.extend(nonconforming(one, &ran.judged.summary));
        runs.push(ran.judged);
        series.push(recorder.finish());
    }
    let summaries: Vec<_> = runs.iter().map(|run| &run.summary).collect();

    if let Some(mut output) = output {
        let views: Vec<_> = summaries.iter().copied().zip(&series).collect();
        output.write_json("summary.json", &runs)?;
        output.write("report.html", &compare_html(&runs, &series))?;
        output.write("delays.svg", &figures::exceedance_compared(&views).svg())?;
        output.finish(&arguments.plan, &summaries[0].into())?;
    }
    if arguments.json {
        print_json(&runs)?;
    } else {
        let mut text = table::compare_table(&summaries) + "\n\n";
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
