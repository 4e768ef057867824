//! Bursts that meet a packet where it waits longest.

use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::Generator;
use crate::traffic::{Scene, Traffic};
use crate::trial::{Sighting, Trial};

impl Traffic {
    /// Moves a train so that its packets come to a link when the slowest packet of the target did:
    /// the last of them, or the first. Nothing is moved where nothing was seen.
    pub(crate) fn align(&mut self, scene: &Scene, seen: &Sighting, draw: &mut Generator) {
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

    /// Has those meet the target that come to its way at this link of it, and at none before.
    pub(crate) fn meet(&mut self, trial: &Trial<'_>, seen: &Sighting, link: usize, what: Meeting) {
        let Trial { senders, target, .. } = trial;
        let meets_here = |feed: &usize| {
            let path = &senders.all[*feed].path;
            let met = seen.slowest.iter().position(|(hop, _)| path.contains(hop));
            met == Some(link) && !senders.is_target(*feed, target)
        };
        let (hop, slowest) = seen.slowest[link];
        // When the first packet of the target came to a link.
        let first = |at| {
            let own = seen.spans.iter().filter(|((feed, _), _)| senders.is_target(*feed, target));
            own.filter(move |((_, hop), _)| *hop == at).map(|(_, (first, _))| *first).min()
        };
        let moved = |to: u64, from: u64| to as i64 - from as i64;
        let feeds: Vec<_> = (0..senders.all.len()).filter(meets_here).collect();
        if let Meeting::Bursts = what {
            let own = (0..self.trains())
                .filter(|train| senders.is_target(self.feed(*train), target))
                .map(|train| self.start(train));
            let (Some(start), Some(first)) = (own.min(), first(seen.slowest[0].0)) else { return };
            let start = start.saturating_add_signed(moved(slowest, first) - 1);
            return feeds.into_iter().for_each(|feed| self.burst(&senders.scene, feed, start));
        }
        let begins = first(hop).unwrap_or(slowest);
        for train in 0..self.trains() {
            let feed = self.feed(train);
            let Some((first, last)) = seen.spans.get(&(feed, hop)) else { continue };
            if feeds.contains(&feed) {
                let by = match what {
                    Meeting::Beginning => moved(begins, *first),
                    _ => moved(slowest, *last) - 1,
                };
                self.delay(train, by);
            }
        }
    }
}

/// Packets of others that meet the target.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Meeting {
    /// The first packets of others its first one.
    Beginning,
    /// The last packets of others the one that takes longest.
    Slowest,
    /// The bursts of others, and nothing else of them, the one that takes longest, as far as they
    /// begin there.
    Bursts,
}
