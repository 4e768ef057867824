//! The experiments of West, Schwan and Poellabauer (1999): Figures 2 to 8.

mod checks;
mod cost;
mod handover;
mod linear;
mod misses;
mod pairs;
mod rates;
mod spread;
mod streams;

use laxity::units::Nanos;
use laxity_sim::error::SimError;

use crate::claims::Measurements;
use crate::experiment::{Repetition, Runs, Settings};
use streams::PACKETS_A_SECOND;

const CLAIMS: &str = include_str!("../../../papers/dwcs/claims.toml");

/// Packets that the paper serves at every point of its figures.
const PACKETS: u64 = 5_000_000;

/// 100 seconds, in which 480 streams have found their rates and each of 760 has sent ten windows of
/// the longest.
const AT_LEAST: u64 = 100 * PACKETS_A_SECOND;

/// Repeats the experiments. Time is logical, a packet a unit; a duration is in seconds of the
/// paper's server, at least 100. The times of Figure 5 are measured last.
pub(crate) fn repeat(settings: &Settings<'_>) -> Result<Repetition, SimError> {
    let &Settings { seeds, duration, progress } = settings;
    let packets = duration.map_or(PACKETS, |duration| {
        let packets = u128::from(duration.0) * u128::from(PACKETS_A_SECOND) / 1_000_000_000;
        u64::try_from(packets).unwrap_or(u64::MAX).max(AT_LEAST)
    });
    let of_a_seed = misses::RUNS + spread::RUNS + rates::RUNS + checks::RUNS;
    let all = seeds * of_a_seed + cost::RUNS + handover::RUNS;
    let runs = Runs { seeds, duration, step: &|| progress(all) };
    let measured = &mut Measurements::default();
    let parts = [
        misses::repeat(runs, packets, measured),
        spread::repeat(runs, measured)?,
        rates::repeat(runs, packets, measured)?,
        checks::repeat(runs, packets, measured),
        cost::repeat(runs, measured),
        handover::repeat(runs, measured),
    ];
    let nanos = u128::from(packets) * 1_000_000_000 / u128::from(PACKETS_A_SECOND);
    let duration = Nanos(nanos as u64);
    Ok(Repetition::new(duration, seeds, CLAIMS, measured, parts))
}
