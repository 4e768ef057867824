//! Runs under several seeds.

use std::ops::{ControlFlow, RangeInclusive};

use laxity_answers::seeds::Seeds;
use laxity_answers::verdict::HeldTo;
use laxity_plan::Plan;
use laxity_plan::parallel::{on_all_cores, side_by_side};
use laxity_sim::ProgressPoint;

use crate::run::AnalysedPlan;
use crate::{Error, Traffic};

/// Runs each plan with every seed, side by side on all cores; what comes of them does not depend on
/// who runs when. The plans are held to their promises as in a comparison with `own`; one that has
/// the same scheduler is held to all of them. `progress` hears by how much each run has gone on,
/// and may stop them all.
///
/// # Errors
/// At the first run that cannot be had, in the order of plans and seeds.
pub fn over_seeds(
    own: &Plan,
    plans: &[Plan],
    traffic: &Traffic<'_>,
    seeds: RangeInclusive<u64>,
    progress: &(dyn Fn(ProgressPoint) -> ControlFlow<()> + Sync),
) -> Result<Vec<Seeds>, Error> {
    let seeds: Vec<_> = seeds.collect();
    let ready: Vec<_> = plans.iter().map(AnalysedPlan::new).collect();
    let all = ready.iter().flat_map(|plan| seeds.iter().map(move |&seed| (plan, seed)));
    let all: Vec<_> = all.collect();
    let one = |run: usize| {
        let (plan, seed): (&AnalysedPlan<'_>, u64) = all[run];
        let mut heard = ProgressPoint::default();
        let progress = &mut |reached| {
            let on = reached - heard;
            heard = reached;
            progress(on)
        };
        Ok(plan.simulate(traffic, seed, &mut (), progress)?.0.summary)
    };
    let results = on_all_cores(|| side_by_side(all.len(), one));
    let mut results = results.into_iter().collect::<Result<Vec<_>, Error>>()?.into_iter();
    let judged = plans.iter().zip(&ready).map(|(plan, ready)| {
        let held_to = HeldTo::in_comparison(own.scheduler, plan.scheduler);
        let results = results.by_ref().take(seeds.len()).collect();
        Seeds::new(plan, held_to, ready.proof(), results)
    });
    Ok(judged.collect())
}
