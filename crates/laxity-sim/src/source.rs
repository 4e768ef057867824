//! Where packets come from: models, CSV files and captures.

mod arrival;
mod backlogged;
mod capture;
pub(crate) mod closed_loop;
mod copies;
mod csv;
mod feed;
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

use laxity_plan::model::{Model, ModelSource, Plan};

pub use self::arrival::{Arrival, Arrivals, Remarks};
pub use self::backlogged::Backlogged;
pub use self::feed::Feed;
pub use self::lengths::Lengths;
pub use self::order::WINDOW;
pub use self::recording::{open_recording, read_recording};

use self::copies::Copies;
use self::greedy::Greedy;
use self::paced::{Constant, Correlated, OnOff, Poisson};
pub(crate) use self::sampling::{sampled, sampler};
use crate::error::SourceProblem;

/// The feed of the `index`-th source, which is a model.
fn model_feed(
    plan: &Plan,
    source: &ModelSource,
    seed: u64,
    index: usize,
) -> Result<Feed, SourceProblem> {
    let lengths = sampled("packet", Lengths::new(plan, source))?;
    let arrivals: Box<dyn Arrivals> = match source.model {
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
        Model::Backlogged { window } => {
            let backlogged = Backlogged::new(source, window, lengths, seed, index);
            return Ok(Feed::Backlogged(backlogged));
        }
    };
    Ok(Feed::new(arrivals))
}
