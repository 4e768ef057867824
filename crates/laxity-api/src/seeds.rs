//! Runs under several seeds.

use std::ops::{ControlFlow, RangeInclusive};

use laxity_answers::seeds::Seeds;
use laxity_answers::verdict::HeldTo;
use laxity_plan::Plan;
use laxity_plan::parallel::{on_all_cores, side_by_side};
use laxity_sim::Reached;

use crate::{Error, Simulated, Traffic};

/// Runs each plan with every seed, side by side on all cores; what comes of them does not depend on
/// who runs when. The plans are held to their promises as in a comparison with `own`; one that has
/// the same scheduler is held to all of them. `progress` hears by how much each run has gone on,
/// and may stop them all.
///
/// # Errors
/// At the first run that cannot be had, in the order of plans and seeds.
pub fn over_seeds<S: Simulated>(
    own: &Plan,
    plans: &[Plan],
    traffic: &Traffic<'_>,
    seeds: RangeInclusive<u64>,
    progress: &(dyn Fn(Reached) -> ControlFlow<()> + Sync),
) -> Result<Vec<Seeds<S>>, Error> {
    let seeds: Vec<_> = seeds.collect();
    let ready = plans.iter().map(S::ready).collect::<Result<Vec<_>, _>>()?;
    let all = ready.iter().flat_map(|plan| seeds.iter().map(move |&seed| (plan, seed)));
    let all: Vec<_> = all.collect();
    let one = |run: usize| {
        let (plan, seed): (&S::Ready<'_>, u64) = all[run];
        let mut heard = Reached::default();
        S::simulate(plan, traffic, seed, &mut |reached| {
            let on = reached - heard;
            heard = reached;
            progress(on)
        })
    };
    let results = on_all_cores(|| side_by_side(all.len(), one));
    let mut results = results.into_iter().collect::<Result<Vec<S>, Error>>()?.into_iter();
    let judged = plans.iter().zip(&ready).map(|(plan, ready)| {
        let held_to = HeldTo::in_comparison(own.scheduler, plan.scheduler);
        let of_plan = results.by_ref().take(seeds.len()).collect();
        Seeds::new(plan, held_to, S::proof(ready), of_plan)
    });
    Ok(judged.collect())
}
