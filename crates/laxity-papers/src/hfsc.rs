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
use crate::experiment::{Findings, Settings};
use plans::{DELAY, read};

const CLAIMS: &str = include_str!("../../../papers/hfsc/claims.toml");

/// Repeats the experiments. The worked examples last as long as their plans say; times are taken
/// when everything else is done.
pub(crate) fn repeat(settings: &Settings<'_>) -> Result<Findings, SimError> {
    let &Settings { seeds, duration, progress } = settings;
    let once = decoupling::RUNS + punishment::RUNS + conflict::RUNS + cost::RUNS;
    // Link-sharing runs once per seed.
    let runs = once + seeds * (delay::RUNS + 1);
    let step = || progress(runs);
    let measured = &mut Measurements::default();
    let parts = [
        decoupling::repeat(seeds, &step, measured)?,
        punishment::repeat(&step, measured)?,
        conflict::repeat(&step, measured)?,
        delay::repeat(seeds, duration, &step, measured)?,
        sharing::repeat(seeds, duration, &step, measured)?,
        cost::repeat(duration.is_some(), &step, measured)?,
    ];
    let duration = duration.or(read(DELAY).run.duration).unwrap_or_default();
    Ok(Findings::new(duration, seeds, CLAIMS, measured, parts))
}
