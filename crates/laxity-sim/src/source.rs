//! Where packets come from: models, CSV files and captures.

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
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use laxity::packet::{ClassId, FlowId};
use laxity::units::Nanos;
use laxity_plan::model::{Dist, Model, ModelSource, Plan};

pub use self::backlogged::Backlogged;
pub use self::feed::Feed;
pub use self::lengths::Lengths;
pub use self::order::WINDOW;
pub use self::recording::{open_recording, read_recording};

use self::copies::Copies;
use self::greedy::Greedy;
use self::paced::{Constant, Correlated, OnOff, Poisson};
use self::random::Sampler;
use crate::error::{DistError, SimError, SourceProblem};

/// A packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When its last bit arrives.
    pub time: Nanos,
    /// The class that the model feeds, the file names or the capture's match finds.
    pub class: ClassId,
    /// The flow within the class.
    pub flow: FlowId,
    /// Length on the link in bytes, at least 1.
    pub length: u32,
}

/// A stream of arrivals with non-decreasing times, the same on every run with the same seed.
pub trait Arrivals {
    /// The next arrival, or `None` when the stream has ended.
    ///
    /// # Errors
    /// When a recording cannot be read on, with the place in it.
    fn next_arrival(&mut self) -> Result<Option<Arrival>, SimError>;

    /// Whether the traffic was recorded, and so is over when the stream ends.
    fn is_recording(&self) -> bool {
        false
    }

    /// What was seen so far in a recording that is no arrival but worth telling.
    fn remarks(&self) -> Remarks {
        Remarks::default()
    }
}

/// What a recording held besides arrivals in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Frames that passed the source's `match` but that of no class.
    pub unmatched: u64,
    /// Packets and frames that stand behind one of a later time, and were put in order.
    pub reordered: u64,
    /// The most by which one was earlier than one before it.
    pub furthest: Nanos,
}

impl std::iter::Sum for Remarks {
    fn sum<I: Iterator<Item = Remarks>>(all: I) -> Remarks {
        all.fold(Remarks::default(), |sum, one| Remarks {
            unmatched: sum.unmatched + one.unmatched,
            reordered: sum.reordered + one.reordered,
            furthest: sum.furthest.max(one.furthest),
        })
    }
}

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

/// A field's distribution, ready to draw from.
pub(crate) fn sampler(
    field: &'static str,
    dist: Dist<Nanos>,
) -> Result<Sampler<Nanos>, SourceProblem> {
    sampled(field, Sampler::new(dist))
}

/// Says in which field a distribution is wrong.
pub(crate) fn sampled<T>(
    field: &'static str,
    made: Result<T, DistError>,
) -> Result<T, SourceProblem> {
    made.map_err(|source| SourceProblem::Dist { field, source })
}
