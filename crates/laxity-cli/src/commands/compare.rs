//! `laxity compare`: the same arrivals through several schedulers.

use laxity_plan::Plan;
use laxity_report::html::compare_html;
use laxity_report::{edf, figures, table, verdict};
use laxity_sim::series::{Series, SeriesRecorder};
use laxity_sim::summary::Summary;

use crate::args::Compare;
use crate::failure::Failure;
use crate::output::Output;
use crate::{Promises, print, print_json, traffic};

/// Carries the command out.
pub fn run(arguments: &Compare) -> Result<Promises, Failure> {
    let plan = Plan::read(&arguments.plan)?;
    let names = arguments.schedulers.iter();
    let schedulers = names.map(|name| traffic::scheduler(&plan, Some(name)));
    let schedulers = schedulers.collect::<Result<Vec<_>, _>>()?;
    let output = arguments.out.as_deref().map(Output::new).transpose()?;

    let mut runs: Vec<(Summary, Series)> = Vec::new();
    let mut remarks = Vec::new();
    let mut refusals = Vec::new();
    for scheduler in schedulers {
        if let Some(admission) = traffic::admission(&plan, scheduler).filter(|a| !a.admitted) {
            refusals.push(format!("{scheduler}: NOT ADMITTED. {}", edf::statement(&admission)));
        }
        let mut series = SeriesRecorder::new(plan.classes.len(), plan.run.warm_up);
        let outcome = traffic::simulate(&plan, scheduler, &arguments.traffic, &mut series)?;
        remarks = traffic::remarks(&outcome.remarks);
        remarks.extend(traffic::nonconforming(&plan, &outcome.summary));
        runs.push((outcome.summary, series.finish()));
    }
    let summaries: Vec<_> = runs.iter().map(|(summary, _)| summary.clone()).collect();

    if let Some(mut output) = output {
        let views: Vec<_> = runs.iter().map(|(summary, series)| (summary, series)).collect();
        output.write_json("summary.json", &summaries)?;
        output.write("report.html", &compare_html(&views))?;
        output.write("delays.svg", &figures::exceedance_compared(&views))?;
        output.finish(&arguments.plan.display().to_string(), &summaries[0])?;
    }
    if arguments.json {
        print_json(&summaries)?;
    } else {
        let mut text = table::compare_table(&summaries) + "\n";
        for summary in summaries.iter().filter(|summary| !keeps_what_it_proved(summary)) {
            for promise in verdict::broken_promises(summary) {
                text += &format!("{}: BROKEN: {promise}\n", summary.scheduler);
            }
        }
        for refusal in &refusals {
            text += &format!("{refusal}\n");
        }
        for remark in remarks {
            text += &format!("Note: {remark}.\n");
        }
        if let Some(folder) = &arguments.out {
            text += &format!("Report: {}\n", folder.join("report.html").display());
        }
        print(&text)?;
    }
    let kept = refusals.is_empty() && summaries.iter().all(keeps_what_it_proved);
    Ok(Promises::kept_if(kept))
}

/// A scheduler that proves no bound breaks no promise.
fn keeps_what_it_proved(summary: &Summary) -> bool {
    !verdict::proved_anything(summary) || verdict::broken_promises(summary).is_empty()
}
