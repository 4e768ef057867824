//! `laxity run` of a plan whose calls come and go.

use laxity_api::{Plan, Traffic, run_calls};
use laxity_report::calls;

use crate::Promises;
use crate::args::Run;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Simulating;
use crate::terminal::print_results;

/// Carries the command out.
pub(super) fn run(
    arguments: &Run,
    plan: &Plan,
    traffic: &Traffic<'_>,
) -> Result<Promises, Failure> {
    let given = &arguments.traffic;
    for (option, is_given) in [
        ("--seeds", given.seeds.is_some()),
        ("--threads", given.threads.is_some()),
        ("--arrivals", given.arrivals.is_some()),
        ("--trace", arguments.trace.is_some()),
        ("--profile", arguments.profile),
    ] {
        if is_given {
            return Err(Failure::input(format!(
                "{option} is not for a plan with [[request]], whose calls come and go"
            )));
        }
    }
    let inputs = arguments.inputs(plan);
    let output = arguments.out.as_deref().map(|folder| Output::new(folder, &inputs)).transpose()?;
    let duration = traffic.duration(plan)?;
    let summary = Simulating::one(plan, duration, |progress| run_calls(plan, traffic, progress))?;
    if let Some(output) = output {
        let page = calls::page(plan, &summary);
        output.finish(&arguments.plan, &summary, &summary, &[("report.html", page)])?;
    }
    print_results(arguments.json, arguments.out.as_deref(), &summary, || calls::text(&summary))?;
    Ok(Promises::kept_if(summary.kept))
}
