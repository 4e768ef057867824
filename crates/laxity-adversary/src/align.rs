//! Bursts that meet a packet where it waits longest.

use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::Generator;
use crate::traffic::{Scene, Traffic};
use crate::trial::Seen;

impl Traffic {
    /// Moves a train so that its packets come to a link when the slowest packet of the target did: the last of
    /// them, or the first. Nothing is moved where nothing was seen.
    pub(crate) fn align(&mut self, scene: &Scene, seen: &Seen, draw: &mut Generator) {
        let Some(&(hop, meets)) = seen.slowest.choose(draw) else { return };
        let others: Vec<_> = (0..self.trains())
            .filter_map(|train| Some((train, *seen.spans.get(&(self.feed(train), hop))?)))
            .collect();
        let Some(&(train, (first, last))) = others.choose(draw) else { return };
        let comes = if draw.random_range(0..3u32) == 0 { first } else { last };
        let by = meets as i64 - comes as i64;
        let early = match draw.random_range(0..4u32) {
            0 => scene.time(draw) as i64,
            1 => 1,
            _ => 0,
        };
        self.delay(train, by.saturating_sub(early));
    }
}
