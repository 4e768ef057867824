//! Sources that always have a packet waiting.

use laxity::packet::{ClassId, FlowId};
use laxity::units::Nanos;
use laxity_plan::model::{Model, Plan, Source};

use super::lengths::Lengths;
use super::random::{Generator, generator};
use super::sampled;
use crate::error::SimError;

/// A closed loop that the engine drives: every copy keeps `window` packets queued, the next one
/// arriving when one leaves. This is what the engine needs to know, and where lengths come from.
#[derive(Clone, Debug)]
pub struct Backlogged {
    /// The class it feeds.
    pub class: ClassId,
    /// How many packets each copy keeps queued.
    pub window: u32,
    /// When it begins.
    pub start: Nanos,
    /// No packet arrives at this time or later.
    pub stop: Nanos,
    lengths: Lengths,
    generators: Vec<Generator>,
}

impl Backlogged {
    /// The plan's `index`-th source, if that is a backlogged one.
    ///
    /// # Errors
    /// If its distribution's parameters describe none.
    pub fn new(plan: &Plan, seed: u64, index: usize) -> Result<Option<Self>, SimError> {
        let Source::Model(source) = &plan.sources[index] else { return Ok(None) };
        let Model::Backlogged { window } = source.model else { return Ok(None) };
        let lengths = sampled("packet", Lengths::new(plan, source))
            .map_err(|problem| SimError::Source { number: index + 1, problem })?;
        let copies = 0..u64::from(source.count);
        Ok(Some(Backlogged {
            class: source.class,
            window,
            start: source.start,
            stop: source.stop.unwrap_or(Nanos::MAX),
            lengths,
            generators: copies.map(|copy| generator(seed, index as u64, copy)).collect(),
        }))
    }

    /// Its copies: flows 0 and up.
    pub fn flows(&self) -> impl Iterator<Item = FlowId> + use<> {
        (0..self.generators.len() as u32).map(FlowId)
    }

    /// The length in bytes of a flow's next packet.
    pub fn next_length(&mut self, flow: FlowId) -> u32 {
        self.lengths.draw(&mut self.generators[flow.0 as usize])
    }
}
