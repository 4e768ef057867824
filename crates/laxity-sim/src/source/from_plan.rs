//! What a plan's sources feed a simulation with.

use laxity_plan::model::{Model, ModelSource, Plan, Source, SourceId};

use super::arrival::Arrivals;
use super::backlogged::Backlogged;
use super::copies::Copies;
use super::feed::Feed;
use super::greedy::Greedy;
use super::lengths::Lengths;
use super::paced::{Constant, Exponential, OnOff};
use super::recording::open_source;
use super::sampling::{sampled, sampler};
use crate::error::{SimError, SourceProblem};

impl Feed {
    /// The feed of a source of the plan. None for TCP, which sends when it hears of the other end:
    /// see [`network`](crate::network).
    ///
    /// # Errors
    /// If the source's parameters make no sense, or its recording cannot be opened.
    pub fn from_source(plan: &Plan, seed: u64, id: SourceId) -> Result<Option<Self>, SimError> {
        match &plan.sources[id.index()] {
            Source::Model(source) => model_feed(plan, source, seed, id)
                .map(Some)
                .map_err(|problem| SimError::Source { id, problem }),
            Source::Recording(recording) => {
                open_source(recording, plan, id).map(|arrivals| Some(Feed::new(arrivals)))
            }
            Source::Tcp(_) => Ok(None),
        }
    }
}

/// The feed of a source that is a model.
fn model_feed(
    plan: &Plan,
    source: &ModelSource,
    seed: u64,
    id: SourceId,
) -> Result<Feed, SourceProblem> {
    let lengths = sampled("packet", Lengths::new(plan, source))?;
    let arrivals: Box<dyn Arrivals> = match source.model {
        Model::Greedy { burst, spacing } => {
            let greedy = Greedy::new(plan, source, lengths, burst, spacing)?;
            Box::new(Copies::new(greedy, source, seed, id))
        }
        Model::Constant { rate, jitter } => {
            let jitter = jitter.map(|jitter| sampler("jitter", jitter)).transpose()?;
            Box::new(Copies::new(Constant { lengths, rate, jitter }, source, seed, id))
        }
        Model::Poisson { rate } => {
            Box::new(Copies::new(Exponential::poisson(lengths, rate), source, seed, id))
        }
        Model::Correlated { rate } => {
            Box::new(Copies::new(Exponential::correlated(lengths, rate), source, seed, id))
        }
        Model::OnOff { rate, on, off } => {
            let on_off = OnOff::new(lengths, rate, on, off)?;
            Box::new(Copies::new(on_off, source, seed, id))
        }
        Model::Backlogged { window } => {
            let backlogged = Backlogged::new(source, window, lengths, seed, id);
            return Ok(Feed::Backlogged(backlogged));
        }
    };
    Ok(Feed::new(arrivals))
}
