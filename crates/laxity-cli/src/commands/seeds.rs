//! `laxity run` and `laxity compare` with several seeds, side by side on all cores.

use std::ops::RangeInclusive;

use laxity::units::Nanos;
use laxity_answers::seeds::Seeds;
use laxity_api::{Json, Plan, Traffic, over_seeds};
use laxity_report::admission::AdmissionView;
use laxity_report::visible::line;
use laxity_report::{quantity, seeds, words};

use crate::args::{Compare, Run};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Simulating;
use crate::terminal::print_results;
use crate::{Promises, input};

/// `laxity run --seeds`.
pub(super) fn run(
    arguments: &Run,
    plan: &Plan,
    traffic: &Traffic<'_>,
    range: RangeInclusive<u64>,
) -> Result<Promises, Failure> {
    let inputs = arguments.inputs(plan);
    let output = arguments.out.as_deref().map(|folder| Output::new(folder, &inputs)).transpose()?;
    input::keep(arguments.traffic.arrivals.as_deref())?;
    let plans = std::slice::from_ref(plan);
    let run = over(plan, plans, traffic, range)?.swap_remove(0);
    let duration_ns = run.runs[0].summary.duration_ns;
    if let Some(output) = output {
        let title = plan.title.as_deref();
        let admission = run.proof.as_ref().map(|proof| AdmissionView::new(plan, proof));
        let page = seeds::html(title, duration_ns, &run, admission.as_ref());
        let first = &run.runs[0].summary;
        output.finish(&arguments.plan, first, &Json(&run), &[("report.html", page)])?;
    }
    let text = || {
        let table = seeds::figures_table(&run);
        let verdict: String = words::lines(&run.verdict).map(|line| line + "\n").collect();
        let notes = notes(std::slice::from_ref(&run));
        format!("{}{table}\n\n{verdict}{notes}", head(plan, &run, duration_ns))
    };
    print_results(arguments.json, arguments.out.as_deref(), &Json(&run), text)?;
    Ok(Promises::kept_if(run.verdict.kept))
}

/// `laxity compare --seeds`.
pub(super) fn compare(
    arguments: &Compare,
    plan: &Plan,
    compared: &[Plan],
    traffic: &Traffic<'_>,
    range: RangeInclusive<u64>,
) -> Result<Promises, Failure> {
    let inputs = arguments.inputs(plan);
    let output = arguments.out.as_deref().map(|folder| Output::new(folder, &inputs)).transpose()?;
    input::keep(arguments.traffic.arrivals.as_deref())?;
    let runs = over(plan, compared, traffic, range)?;
    let duration_ns = runs[0].runs[0].summary.duration_ns;
    if let Some(output) = output {
        let page = seeds::compare_html(plan.title.as_deref(), duration_ns, &runs);
        let first = &runs[0].runs[0].summary;
        output.finish(&arguments.plan, first, &Json(&runs), &[("report.html", page)])?;
    }
    let text = || {
        let lines = seeds::compared(&runs).into_iter().map(|line| line + "\n");
        let lines: String = lines.collect();
        format!("{}\n\n{lines}{}", seeds::compare_table(&runs), notes(&runs))
    };
    print_results(arguments.json, arguments.out.as_deref(), &Json(&runs), text)?;
    Ok(Promises::kept_if(runs.iter().all(|run| run.verdict.kept)))
}

fn head(plan: &Plan, run: &Seeds, duration_ns: u64) -> String {
    format!(
        "{}\n{}, {} of traffic, seeds {}\n\n",
        line(plan.title.as_deref().unwrap_or("Simulation")),
        run.scheduler,
        quantity::time(duration_ns as f64),
        seeds::range(&run.seeds),
    )
}

fn notes(runs: &[Seeds]) -> String {
    let mut text = format!("Note: {}\n", seeds::explained(runs[0].seeds.len()));
    if let Some(remark) = seeds::sameness(runs) {
        text += &format!("Note: {remark}.\n");
    }
    text
}

/// Runs plans with every seed behind one progress bar.
fn over(
    own: &Plan,
    plans: &[Plan],
    traffic: &Traffic<'_>,
    seeds: RangeInclusive<u64>,
) -> Result<Vec<Seeds>, Failure> {
    let count = (plans.len() as u64).saturating_mul(seeds.end() - seeds.start() + 1);
    let whole = traffic.duration(&plans[0])?.map(|of| Nanos(of.0.saturating_mul(count)));
    Ok(Simulating::several("seeds", &plans[0], whole, |bar| {
        over_seeds(own, plans, traffic, seeds, &|on| bar.gone_on(on))
    })?)
}
