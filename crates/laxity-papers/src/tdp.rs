//! The experiments of Baldi et al. (2006): Tables I and II, best effort beside reserved traffic
//! (section II.B), and the share of refused demands, which the paper leaves to others.

mod blocking;
mod figures;
mod measures;
mod plans;
mod run;

use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use laxity_sim::error::SimError;

use crate::claims::Measurements;
use crate::experiment::{Part, Repetition, Runs, Settings, plan};
use blocking::Curve;
use measures::{BOUND, FILLED, JITTER, LATE, LOAD, LOST, RATIO, REFUSED, TRANSIT};
use plans::{BEST_EFFORT, SCENARIOS};
use run::Run;

const CLAIMS: &str = include_str!("../../../papers/tdp/claims.toml");

/// Best effort is simulated for a shorter time: its queues fill within a moment.
const BEST_EFFORT_LASTS: Nanos = Nanos(5_000_000_000);
/// Refusals differ from seed to seed: there are never fewer.
const FEWEST_SEEDS_OF_DEMANDS: u64 = 20;

/// Repeats the experiments.
pub(crate) fn repeat(settings: &Settings<'_>) -> Result<Repetition, SimError> {
    let duration =
        settings.duration.unwrap_or(plan(SCENARIOS[0].1).run.duration.unwrap_or_default());
    let of_demands = settings.seeds.max(FEWEST_SEEDS_OF_DEMANDS);
    let seeds = settings.seeds;
    let all = seeds * (2 * SCENARIOS.len() as u64 + 1) + blocking::runs(of_demands);
    let runs = Runs { seeds, duration: Some(duration), step: &|| (settings.progress)(all) };
    let run_all =
        |plan: &Plan, duration| runs.each(1..=seeds, |seed| Run::simulate(plan, duration, seed));
    let mut measured = Measurements::default();
    let mut parts = Vec::new();
    for (name, text) in SCENARIOS {
        let tdp = plan(text);
        let fifo = Plan { scheduler: SchedulerSpec::Fifo, ..tdp.clone() };
        let [fifo, tdp] = [fifo, tdp].map(|plan| run_all(&plan, duration));
        let (fifo, tdp) = (fifo?, tdp?);
        add(&mut measured, name, &fifo, &tdp);
        parts.push(part(name, &fifo, &measured));
    }
    let plan = plan(BEST_EFFORT);
    let lasts = duration.min(BEST_EFFORT_LASTS);
    for shown in run_all(&plan, lasts)? {
        shown.links.iter().for_each(|(link, share)| measured.add(FILLED, link, *share));
        measured.add(LOST, "beside best effort", shown.reserved().map(|of| of.dropped).sum());
        measured.add(LATE, "beside best effort", shown.late);
        for flow in shown.reserved() {
            let of = format!("{} beside best effort", flow.name);
            measured.add(TRANSIT, &of, flow.transit_jitter);
        }
    }
    let curves = blocking::measure(Runs { seeds: of_demands, ..runs })?;
    for curve in &curves {
        refusals(curve).for_each(|(of, refused)| measured.add(REFUSED, &of, refused));
    }
    parts.push(figures::all(&measured, &curves));
    Ok(Repetition::new(duration, seeds, CLAIMS, &measured, parts))
}

/// Measures both schedulers with the same arrivals, seed by seed.
fn add(measured: &mut Measurements, scenario: &str, fifo: &[Run], tdp: &[Run]) {
    for (fifo, tdp) in fifo.iter().zip(tdp) {
        for (fifo, tdp) in fifo.flows.iter().zip(&tdp.flows) {
            let flow = &tdp.name;
            measured.add(JITTER, &format!("{flow}, FIFO, {scenario}"), fifo.jitter);
            measured.add(JITTER, &format!("{flow}, TDP, {scenario}"), tdp.jitter);
            measured.add(RATIO, &format!("{flow}, {scenario}"), fifo.jitter / tdp.jitter);
            measured.add(TRANSIT, &format!("{flow}, {scenario}"), tdp.transit_jitter);
            measured.add(BOUND, &format!("{flow}, {scenario}"), tdp.longest / tdp.bound);
        }
        measured.add(LOST, scenario, tdp.flows.iter().map(|flow| flow.dropped).sum());
        measured.add(LATE, scenario, tdp.late);
        let ring = tdp.links.iter().filter(|(link, _)| RING.contains(&link.as_str()));
        ring.for_each(|(link, share)| {
            measured.add(LOAD, &format!("{link}, {scenario}"), *share);
        });
    }
}

/// The links that all flows share but one.
const RING: [&str; 4] = ["r1 → r2", "r2 → r3", "r3 → r4", "r4 → r1"];

/// A table like the paper's, of means over the seeds.
fn part(scenario: &str, shown: &[Run], measured: &Measurements) -> Part {
    let header = [
        "flow",
        "FIFO ms",
        "largest",
        "TDP ms",
        "largest",
        "from the first link on",
        "longest / bound",
    ];
    let flows = shown.first().map_or(&[][..], |shown| &shown.flows);
    let row = |flow: &run::Flow| {
        let name = &flow.name;
        let jitter = |of: &str| {
            let of = format!("{name}, {of}, {scenario}");
            [measured.mean(JITTER, &of), measured.largest(JITTER, &of)]
                .map(|jitter| format!("{jitter:.2}"))
        };
        let of = format!("{name}, {scenario}");
        let transit = format!("{:.2}", measured.largest(TRANSIT, &of));
        let bound = format!("{:.3}", measured.largest(BOUND, &of));
        let cells = jitter("FIFO").into_iter().chain(jitter("TDP")).chain([transit, bound]);
        std::iter::once(name.clone()).chain(cells).collect()
    };
    Part::default().table(format!("Jitter of {scenario}"), &header, flows.iter().map(row))
}

/// Refusals of each seed at the load that the claims look at.
fn refusals(curve: &Curve) -> impl Iterator<Item = (String, f64)> + '_ {
    let name = match curve.spare {
        0 => format!("{}, immediate", curve.network.name()),
        spare => format!("{}, {spare} spare", curve.network.name()),
    };
    let at = curve.points.iter().find(|point| (point.load - 0.7).abs() < 0.01);
    let refused = at.map_or(&[][..], |point| &point.refused);
    refused.iter().map(move |refused| (name.clone(), *refused))
}
