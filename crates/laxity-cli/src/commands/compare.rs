//! `laxity compare`: the same arrivals through several schedulers.

use laxity_api::{Comparison, Plan, Traffic, run_compared};
use laxity_sim::series::SeriesRecorder;

use super::run::calls;
use super::seeds;
use crate::args::Compare;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Simulating;
use crate::terminal::print_results;
use crate::{Promises, input, traffic};

/// Carries the command out.
pub(crate) fn run(arguments: &Compare) -> Result<Promises, Failure> {
    let given = &arguments.traffic;
    let plan = traffic::plan(
        &arguments.plan,
        given.arrivals.as_deref(),
        given.sort,
        &arguments.schedulers,
    )?;
    let compared = arguments.schedulers.iter().map(|name| plan.clone().under(name));
    let compared = compared.collect::<Result<Vec<_>, _>>()?;
    traffic::with(given, |traffic| match given.seeds {
        _ if !plan.requests.is_empty() => calls::compare(arguments, &plan, &compared, traffic),
        Some(count) => {
            let seeds = traffic.seeds(&plan, count)?;
            seeds::compare(arguments, &plan, &compared, traffic, seeds)
        }
        None => compare_once(arguments, &plan, &compared, traffic),
    })
}

fn compare_once(
    arguments: &Compare,
    plan: &Plan,
    compared: &[Plan],
    traffic: &Traffic<'_>,
) -> Result<Promises, Failure> {
    let inputs = arguments.inputs(plan);
    let output = arguments.out.as_deref().map(|folder| Output::new(folder, &inputs)).transpose()?;
    input::keep(arguments.traffic.arrivals.as_deref())?;

    let (mut runs, mut series) = (Vec::new(), Vec::new());
    let mut notes = Vec::new();
    for one in compared {
        let mut recorder = SeriesRecorder::new(one);
        let result = Simulating::one(one, traffic.duration(one)?, |progress| {
            run_compared(plan, one, traffic, &mut recorder, progress)
        })?;
        notes = result.remarks();
        notes.extend(result.nonconforming());
        runs.push(result);
        series.push(recorder.finish());
    }
    let compared: Comparison = runs.into_iter().collect();

    if let Some(output) = output {
        let pages =
            [("report.html", compared.page(&series)), ("delays.svg", compared.figure(&series))];
        output.finish(&arguments.plan, &compared.runs[0].summary, &compared, &pages)?;
    }
    let text = || {
        let notes = notes.iter().map(|note| format!("Note: {note}.\n"));
        compared.text() + &notes.collect::<String>()
    };
    print_results(arguments.json, arguments.out.as_deref(), &compared, text)?;
    Ok(Promises::kept_if(compared.kept()))
}
