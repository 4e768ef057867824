//! The experiments of Stoica, Zhang and Ng (2000): Figures 2, 3, 4 and 10 to 13.

mod conflict;
mod cost;
mod decoupling;
mod delay;
mod plans;
mod punishment;
mod sced;
mod service;
mod sharing;
mod system;

use laxity_sim::error::SimError;

use crate::claims::Measurements;
use crate::experiment::{Repetition, Runs, Settings, plan};
use plans::DELAY;

const CLAIMS: &str = include_str!("../../../papers/hfsc/claims.toml");

/// Repeats the experiments. The worked examples last as long as their plans say; times are taken
/// when everything else is done.
pub(crate) fn repeat(settings: &Settings<'_>) -> Result<Repetition, SimError> {
    let &Settings { seeds, duration, progress } = settings;
    let once = decoupling::RUNS + punishment::RUNS + conflict::RUNS + cost::RUNS;
    // Link-sharing runs once per seed.
    let all = once + seeds * (delay::RUNS + 1);
    let runs = Runs { seeds, duration, step: &|| progress(all) };
    let measured = &mut Measurements::default();
    let parts = [
        decoupling::repeat(runs, measured)?,
        punishment::repeat(runs, measured)?,
        conflict::repeat(runs, measured)?,
        delay::repeat(runs, measured)?,
        sharing::repeat(runs, measured)?,
        cost::repeat(runs, measured)?,
    ];
    let duration = duration.or(plan(DELAY).run.duration).unwrap_or_default();
    Ok(Repetition::new(duration, seeds, CLAIMS, measured, parts))
}
