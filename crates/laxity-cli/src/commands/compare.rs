//! `laxity compare`: the same arrivals through several schedulers.

use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use laxity_report::admission::Admission;
use laxity_report::html::compare_html;
use laxity_report::verdict::Broken;
use laxity_report::{figures, table, verdict};
use laxity_sim::series::{Series, SeriesRecorder};
use laxity_sim::summary::Summary;

use super::network;
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
    if plan.network.is_some() {
        return network::compare(arguments, &plan, &schedulers);
    }
    let output = arguments.out.as_deref().map(Output::new).transpose()?;

    let mut runs: Vec<(Summary, Series)> = Vec::new();
    let mut remarks = Vec::new();
    let mut refusals = Vec::new();
    for scheduler in schedulers {
        let asked = is_asked(&plan, scheduler).then(|| Admission::of(&plan, scheduler)).flatten();
        if let Some(admission) = asked.filter(|admission| admission.admitted == Some(false)) {
            refusals.push(format!("{scheduler}: NOT ADMITTED. {}", admission.statement));
        }
        let mut series = SeriesRecorder::new(&plan);
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
        output.finish(&arguments.plan.display().to_string(), &(&summaries[0]).into())?;
    }
    if arguments.json {
        print_json(&summaries)?;
    } else {
        let mut text = table::compare_table(&summaries) + "\n";
        for summary in &summaries {
            for promise in broken_proofs(summary) {
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
    let kept = |summary| broken_proofs(summary).is_empty();
    Ok(Promises::kept_if(refusals.is_empty() && summaries.iter().all(kept)))
}

/// Whether a comparison asks if the plan is admitted: under what is there to keep deadlines, and
/// under the plan's own scheduler.
fn is_asked(plan: &Plan, scheduler: SchedulerSpec) -> bool {
    matches!(scheduler, SchedulerSpec::Edf { .. } | SchedulerSpec::Hfsc | SchedulerSpec::Dwcs(_))
        || scheduler == plan.scheduler
}

/// A scheduler that proves nothing breaks no promise.
fn broken_proofs(summary: &Summary) -> Vec<Broken> {
    let mut broken = verdict::broken_promises(summary);
    broken.retain(|promise| promise.proved);
    broken
}
