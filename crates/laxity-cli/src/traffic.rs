//! From arguments to a simulation.

use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Police, SchedulerSpec, Source};
use laxity_report::quantity;
use laxity_sim::engine::{Outcome, Run};
use laxity_sim::record::Observer;
use laxity_sim::source::{Remarks, open_recording};
use laxity_sim::summary::Summary;

use crate::args::Traffic;
use crate::failure::Failure;
use crate::progress;

/// How long models send when nobody says.
pub const DEFAULT_DURATION: Nanos = Nanos(10_000_000_000);

/// The discipline that was asked for, or the plan's own.
pub fn scheduler(plan: &Plan, name: Option<&str>) -> Result<SchedulerSpec, Failure> {
    Ok(match name {
        Some(name) => SchedulerSpec::named(name, plan.scheduler)?,
        None => plan.scheduler,
    })
}

/// Simulates a plan under a discipline with the traffic that was asked for.
pub fn simulate(
    plan: &Plan,
    scheduler: SchedulerSpec,
    traffic: &Traffic,
    observer: &mut dyn Observer,
) -> Result<Outcome, Failure> {
    let run = prepare(plan, scheduler, traffic)?;
    let bar = progress::through(scheduler.name(), run.duration);
    let outcome = run.simulate(observer, &mut |now| {
        bar.set_position(now.0);
    });
    bar.finish_and_clear();
    let outcome = outcome?;
    if outcome.summary.classes.iter().all(|class| class.arrived == 0) {
        return Err(Failure::input(match (outcome.remarks.unmatched, plan.run.warm_up) {
            (0, Nanos::ZERO) => {
                "nothing arrived: the sources or the recording have no packet".to_string()
            }
            (0, warm_up) => format!(
                "nothing arrived after the warm-up of {warm_up}: shorten it or send for longer"
            ),
            (unmatched, _) => format!(
                "none of the recording's {unmatched} frames matched a class: give the classes a \
                 `match`, such as match = \"udp dport 4000\""
            ),
        }));
    }
    Ok(outcome)
}

fn prepare<'a>(
    plan: &'a Plan,
    scheduler: SchedulerSpec,
    traffic: &Traffic,
) -> Result<Run<'a>, Failure> {
    let (seed, duration) = (seed(plan, traffic), duration(plan, traffic)?);
    let mut run =
        Run { plan, scheduler, duration, seed, arrivals: Vec::new(), backlogged: Vec::new() };
    if let Some(path) = &traffic.arrivals {
        run.arrivals.push(open_recording(path, plan, None)?);
        return Ok(run);
    }
    if plan.sources.is_empty() {
        return Err(Failure::input(
            "the plan has no [[source]], so nothing would arrive: add one, or give --arrivals FILE",
        ));
    }
    Ok(run.with_sources()?)
}

/// The seed that was asked for, or the plan's.
pub fn seed(plan: &Plan, traffic: &Traffic) -> u64 {
    traffic.seed.unwrap_or(plan.run.seed)
}

/// How long traffic arrives: as was asked for, or as the plan says; by default some seconds of
/// models, and all of a recording.
pub fn duration(plan: &Plan, traffic: &Traffic) -> Result<Option<Nanos>, Failure> {
    let models = plan.sources.iter().any(|source| matches!(source, Source::Model(_)));
    let unless_told = (traffic.arrivals.is_none() && models).then_some(DEFAULT_DURATION);
    let duration = traffic.duration.or(plan.run.duration).or(unless_told);
    match duration.is_some_and(|duration| duration <= plan.run.warm_up) {
        true => Err(Failure::input(format!(
            "the warm-up of {} leaves nothing to measure: make the duration longer than that",
            plan.run.warm_up
        ))),
        false => Ok(duration),
    }
}

/// What is worth telling about a recording besides its packets.
pub fn remarks(remarks: &Remarks) -> Vec<String> {
    let frames = |count: u64, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 frame {one}")),
        _ => Some(format!("{count} frames {many}")),
    };
    let unmatched = frames(
        remarks.unmatched,
        "matched no class and was left out",
        "matched no class and were left out",
    );
    let reordered = frames(
        remarks.reordered,
        "was stamped before its predecessor and arrives together with it",
        "were stamped before their predecessor and arrive together with it",
    );
    unmatched.into_iter().chain(reordered).collect()
}

/// The packets that broke their class's contract, and what became of them.
pub fn nonconforming(plan: &Plan, summary: &Summary) -> Vec<String> {
    let treated = |police| match police {
        Police::Count => "travelled with the others",
        Police::Demote => "travelled as best effort, without a promise",
        Police::Drop => "were dropped",
    };
    let classes = plan.leaves().map(|(_, class)| class).zip(&summary.classes);
    let broke = classes.filter(|(_, measured)| measured.nonconforming > 0);
    let told = broke.map(|(class, measured)| {
        let (name, count) = (&class.name, quantity::count(measured.nonconforming));
        format!("{count} packets of {name} broke its arrival curve and {}", treated(class.police))
    });
    told.collect()
}
