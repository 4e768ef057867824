//! Where packets come from: models, CSV files and captures.

mod arrival;
mod backlogged;
mod capture;
mod copies;
mod csv;
mod frames;
mod greedy;
mod lengths;
mod order;
mod paced;
pub mod random;
mod recording;
mod sampling;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use laxity_plan::model::{Model, ModelSource, Plan, Source};

pub use self::arrival::{Arrival, Arrivals, Remarks};
pub use self::backlogged::Backlogged;
pub use self::lengths::Lengths;
pub use self::order::WINDOW;
pub use self::recording::{open_recording, read_recording};

use self::copies::Copies;
use self::greedy::Greedy;
use self::paced::{Constant, Correlated, OnOff, Poisson};
pub(crate) use self::sampling::{sampled, sampler};
use crate::error::{SimError, SourceProblem};

/// The arrivals of the plan's `index`-th source, from 0. None for a backlogged source, which sends
/// only when a packet leaves: see [`Backlogged`]; none for TCP, which sends when it hears of the other
/// end: see [`network`](crate::network).
///
/// # Errors
/// If the source's parameters make no sense, or its recording cannot be opened.
pub fn arrivals(plan: &Plan, seed: u64, index: usize) -> Result<Box<dyn Arrivals>, SimError> {
    match &plan.sources[index] {
        Source::Model(source) => model_arrivals(plan, source, seed, index)
            .map_err(|problem| SimError::Source { number: index + 1, problem }),
        Source::Tcp(_) => Ok(Box::new(Nothing)),
        Source::Recording(recording) => open_recording(recording, plan),
    }
}

fn model_arrivals(
    plan: &Plan,
    source: &ModelSource,
    seed: u64,
    index: usize,
) -> Result<Box<dyn Arrivals>, SourceProblem> {
    let lengths = sampled("packet", Lengths::new(plan, source))?;
    Ok(match source.model {
        Model::Greedy { burst, spacing } => {
            let greedy = Greedy::new(plan, source, lengths, burst, spacing)?;
            Box::new(Copies::new(greedy, source, seed, index))
        }
        Model::Constant { rate, jitter } => {
            let jitter = jitter.map(|jitter| sampler("jitter", jitter)).transpose()?;
            Box::new(Copies::new(Constant { lengths, rate, jitter }, source, seed, index))
        }
        Model::Poisson { rate } => {
            Box::new(Copies::new(Poisson::new(lengths, rate), source, seed, index))
        }
        Model::Correlated { rate } => {
            Box::new(Copies::new(Correlated::new(lengths, rate), source, seed, index))
        }
        Model::OnOff { rate, on, off } => {
            let on_off = OnOff::new(lengths, rate, on, off)?;
            Box::new(Copies::new(on_off, source, seed, index))
        }
        Model::Backlogged { .. } => Box::new(Nothing),
    })
}

/// A stream that has ended.
struct Nothing;

impl Arrivals for Nothing {
    fn next_arrival(&mut self) -> Result<Option<Arrival>, SimError> {
        Ok(None)
    }
}
