//! Sources that always have a packet waiting.

use laxity::packet::{ClassId, FlowId};
use laxity::units::Nanos;
use laxity_plan::model::{ModelSource, SourceId};

use super::closed_loop::SourceCopy;
use super::feed::FeedId;
use super::lengths::Lengths;
use super::random::{Generator, generator};

/// A closed loop: every copy keeps `window` packets queued, where a link is fed or at the first
/// output of a path, the next one arriving when one leaves.
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
    /// All copies of a source.
    pub(super) fn new(
        source: &ModelSource,
        window: u32,
        lengths: Lengths,
        seed: u64,
        id: SourceId,
    ) -> Self {
        let copies = 0..u64::from(source.count);
        Backlogged {
            class: source.class,
            window,
            start: source.start,
            stop: source.stop.unwrap_or(Nanos::MAX),
            lengths,
            generators: copies.map(|copy| generator(seed, id.0.into(), copy)).collect(),
        }
    }

    /// The copies that send the first packets, a window each, if this is feed `feed` of the run.
    pub(crate) fn first_copies(&self, feed: FeedId) -> impl Iterator<Item = SourceCopy> + use<> {
        let window = self.window as usize;
        let copies = (0..self.generators.len() as u32).map(FlowId);
        copies.flat_map(move |flow| std::iter::repeat_n(SourceCopy { feed, flow }, window))
    }

    /// The length in bytes of a flow's next packet, unless it has stopped sending.
    pub fn next_length(&mut self, now: Nanos, flow: FlowId) -> Option<u32> {
        (now < self.stop).then(|| self.lengths.draw(&mut self.generators[flow.0 as usize]))
    }
}
