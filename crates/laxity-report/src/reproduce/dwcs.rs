//! The experiments of West, Schwan and Poellabauer (1999): Figures 2 to 8.

mod checks;
mod cost;
mod handover;
mod linear;
mod misses;
mod rates;
mod spread;
mod streams;

use laxity::units::Nanos;
use laxity_sim::error::SimError;

use super::claims::{Claims, Measured};
use super::{Findings, Settings};
use streams::PACKETS_A_SECOND;

const CLAIMS: &str = include_str!("../../../../papers/dwcs/claims.toml");

/// What the paper serves at every point of its figures.
const PACKETS: u64 = 5_000_000;

/// 100 seconds, in which 480 streams have found their rates and each of 760 has sent ten windows of
/// the longest.
const AT_LEAST: u64 = 100 * PACKETS_A_SECOND;

/// What an experiment shows beside what it measures.
struct Part {
    figures: Vec<(String, String)>,
    tables: Vec<(String, String)>,
}

/// Called once for every run that is done.
type Step<'a> = &'a (dyn Fn() + Sync);

/// Repeats the experiments. Time is logical, a packet a unit; a duration is so many seconds of the
/// paper's server, and at least 100 of them. The times of
/// Figure 5 are taken when everything else is done.
pub fn repeat(settings: &Settings<'_>) -> Result<Findings, SimError> {
    let &Settings { seeds, duration, progress } = settings;
    let packets = duration.map_or(PACKETS, |duration| {
        let packets = u128::from(duration.0) * u128::from(PACKETS_A_SECOND) / 1_000_000_000;
        u64::try_from(packets).unwrap_or(u64::MAX).max(AT_LEAST)
    });
    let runs = misses::runs(seeds)
        + spread::runs(seeds)
        + rates::runs(seeds)
        + checks::runs(seeds)
        + cost::runs()
        + handover::runs();
    let step = || progress(runs);
    let measured = &mut Measured::default();
    let parts = [
        misses::repeat(seeds, packets, &step, measured),
        spread::repeat(seeds, &step, measured)?,
        rates::repeat(seeds, packets, &step, measured),
        checks::repeat(seeds, packets, &step, measured),
        cost::repeat(duration.is_some(), &step, measured),
        handover::repeat(duration.is_some(), &step, measured),
    ];
    let claims: Claims = toml::from_str(CLAIMS).expect("the paper's claims are valid");
    let mut findings = Findings {
        duration: Nanos(
            (u128::from(packets) * 1_000_000_000 / u128::from(PACKETS_A_SECOND)) as u64,
        ),
        verdicts: claims.judge(measured),
        figures: Vec::new(),
        tables: Vec::new(),
    };
    for part in parts {
        findings.figures.extend(part.figures);
        findings.tables.extend(part.tables);
    }
    Ok(findings)
}

/// Not a number if there are no values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
