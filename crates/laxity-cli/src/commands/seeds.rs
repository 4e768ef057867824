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
use crate::{Promises, input, print, print_json};

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
    if let Some(mut output) = output {
        let title = plan.title.as_deref();
        let admission = run.proof.as_ref().map(|proof| AdmissionView::new(plan, proof));
        let page = seeds::html(title, duration_ns, &run, admission.as_ref());
        output.write_json("summary.json", &Json(&run))?;
        output.write("report.html", &page)?;
        output.finish(&arguments.plan, &run.runs[0].summary)?;
    }
    if arguments.json {
        print_json(&Json(&run))?;
    } else {
        let mut text = head(plan, &run, duration_ns);
        text += &format!("{}\n\n", seeds::figures_table(&run));
        for line in words::lines(&run.verdict) {
            text += &format!("{line}\n");
        }
        text += &notes(std::slice::from_ref(&run));
        if let Some(folder) = &arguments.out {
            text += &format!("Report: {}\n", folder.join("report.html").display());
        }
        print(&text)?;
    }
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
    if let Some(mut output) = output {
        let title = plan.title.as_deref();
        output.write_json("summary.json", &Json(&runs))?;
        output.write("report.html", &seeds::compare_html(title, duration_ns, &runs))?;
        output.finish(&arguments.plan, &runs[0].runs[0].summary)?;
    }
    if arguments.json {
        print_json(&Json(&runs))?;
    } else {
        let mut text = format!("{}\n\n", seeds::compare_table(&runs));
        for line in seeds::compared(&runs) {
            text += &format!("{line}\n");
        }
        text += &notes(&runs);
        if let Some(folder) = &arguments.out {
            text += &format!("Report: {}\n", folder.join("report.html").display());
        }
        print(&text)?;
    }
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
    let bar = Simulating::several("seeds", &plans[0], whole);
    let runs = over_seeds(own, plans, traffic, seeds, &|on| bar.gone_on(on));
    bar.finish();
    Ok(runs?)
}
