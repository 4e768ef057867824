//! Plans whose calls come and go: `laxity run`, and `laxity compare`.

use laxity_api::{CallsSummary, Plan, Traffic, run_calls};
use laxity_report::calls;

use crate::Promises;
use crate::args::{self, Compare, Run};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Simulating;
use crate::terminal::print_results;

/// Carries `laxity run` out.
pub(super) fn run(
    arguments: &Run,
    plan: &Plan,
    traffic: &Traffic<'_>,
) -> Result<Promises, Failure> {
    refuse(&[("--trace", arguments.trace.is_some()), ("--profile", arguments.profile)])?;
    refuse_traffic(&arguments.traffic)?;
    let inputs = arguments.inputs(plan);
    let output = arguments.out.as_deref().map(|folder| Output::new(folder, &inputs)).transpose()?;
    let summary = simulate(plan, traffic)?;
    if let Some(output) = output {
        let files =
            [("report.html", calls::page(plan, &summary)), ("calls.csv", calls::csv(&summary))];
        output.finish(&arguments.plan, &summary, &summary, &files)?;
    }
    let text = || calls::text(&summary);
    print_results(arguments.json, arguments.out.as_deref(), &summary, text)?;
    Ok(Promises::kept_if(summary.kept))
}

/// Carries `laxity compare` out: the same calls ask under each discipline.
pub(in crate::commands) fn compare(
    arguments: &Compare,
    plan: &Plan,
    compared: &[Plan],
    traffic: &Traffic<'_>,
) -> Result<Promises, Failure> {
    refuse_traffic(&arguments.traffic)?;
    let inputs = arguments.inputs(plan);
    let output = arguments.out.as_deref().map(|folder| Output::new(folder, &inputs)).transpose()?;
    let summaries = compared.iter().map(|plan| simulate(plan, traffic));
    let summaries = summaries.collect::<Result<Vec<_>, _>>()?;
    if let (Some(output), Some(first)) = (output, summaries.first()) {
        let page = calls::compared_page(plan, &summaries);
        output.finish(&arguments.plan, first, &summaries, &[("report.html", page)])?;
    }
    let text = || calls::compared_text(&summaries);
    print_results(arguments.json, arguments.out.as_deref(), &summaries, text)?;
    Ok(Promises::kept_if(summaries.iter().all(|summary| summary.kept)))
}

fn simulate(plan: &Plan, traffic: &Traffic<'_>) -> Result<CallsSummary, Failure> {
    let duration = traffic.duration(plan)?;
    Ok(Simulating::one(plan, duration, |progress| run_calls(plan, traffic, progress))?)
}

fn refuse_traffic(given: &args::Traffic) -> Result<(), Failure> {
    refuse(&[
        ("--seeds", given.seeds.is_some()),
        ("--threads", given.threads.is_some()),
        ("--arrivals", given.arrivals.is_some()),
    ])
}

/// Refuses options that such plans do not have.
fn refuse(options: &[(&str, bool)]) -> Result<(), Failure> {
    match options.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::input(format!(
            "{option} is not for a plan with [[request]], whose calls come and go"
        ))),
    }
}
