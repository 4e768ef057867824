//! Disturbances of a wire: losses, jitter, reordering and duplicates.

#[cfg(test)]
mod tests;

use laxity::units::Nanos;
use laxity_plan::model::{Dist, NetworkLink, Reorder, WireLoss};
use rand::RngExt;

use crate::source::random::{Generator, Sampler};

/// The disturbances of a wire. Each draws from a generator of its own, so that none changes
/// another.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    losses: Option<Losses>,
    jitter: Option<Delays>,
    reorder: Option<(f64, Delays)>,
    duplicate: Option<(f64, Generator)>,
    /// The last arrival of a packet that was not held up.
    last: Nanos,
    /// Packets that arrive twice.
    pub duplicated: u64,
}

/// A random delay.
#[derive(Clone, Debug)]
struct Delays {
    sampler: Sampler<Nanos>,
    generator: Generator,
}

/// The arrival of a packet, and of its copy if it was duplicated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrivals {
    pub first: Nanos,
    pub copy: Option<Nanos>,
}

/// Purposes of generators.
pub(crate) const LOSSES: u64 = 1;
const JITTER: u64 = 3;
const REORDER: u64 = 4;
const DUPLICATE: u64 = 5;

impl Wire {
    /// The disturbances of a link, if it has any. `generator` gives a generator for each purpose.
    pub(crate) fn new(link: &NetworkLink, generator: impl Fn(u64) -> Generator) -> Option<Wire> {
        if link.loss.is_none() && !link.disturbs() {
            return None;
        }
        let delays = |dist: Dist<Nanos>, purpose| Delays {
            sampler: Sampler::new(dist).expect("reading refuses what cannot be drawn from"),
            generator: generator(purpose),
        };
        let reorder = |Reorder { share, by }| (share, delays(by, REORDER));
        Some(Wire {
            losses: link.loss.map(|loss| Losses::new(loss, generator(LOSSES))),
            jitter: link.jitter.map(|jitter| delays(jitter, JITTER)),
            reorder: link.reorder.map(reorder),
            duplicate: link.duplicate.map(|share| (share, generator(DUPLICATE))),
            last: Nanos::ZERO,
            duplicated: 0,
        })
    }

    /// Packets lost so far.
    pub(crate) fn lost(&self) -> u64 {
        self.losses.as_ref().map_or(0, |losses| losses.lost)
    }

    /// Disturbs the next packet, which would arrive at `expected`. `None` if it is lost.
    pub(crate) fn next(&mut self, expected: Nanos) -> Option<Arrivals> {
        if self.losses.as_mut().is_some_and(Losses::next) {
            return None;
        }
        let is_double = match &mut self.duplicate {
            Some((share, generator)) => generator.random::<f64>() < *share,
            None => false,
        };
        self.duplicated += u64::from(is_double);
        let first = self.arrival(expected);
        Some(Arrivals { first, copy: is_double.then(|| self.arrival(expected)) })
    }

    /// The arrival of a packet: not before any packet that was not held up.
    fn arrival(&mut self, expected: Nanos) -> Nanos {
        let jitter = self.jitter.as_mut().map_or(Nanos::ZERO, Delays::draw);
        self.last = self.last.max(expected.saturating_add(jitter));
        let held_up = self.reorder.as_mut().map_or(Nanos::ZERO, |(share, by)| {
            if by.generator.random::<f64>() < *share { by.draw() } else { Nanos::ZERO }
        });
        self.last.saturating_add(held_up)
    }
}

impl Delays {
    fn draw(&mut self) -> Nanos {
        self.sampler.draw(&mut self.generator)
    }
}

/// Losses in runs: a chain of two states, one of them with every packet lost (Gilbert 1960).
#[derive(Clone, Debug)]
struct Losses {
    /// The probability that a run begins with a packet that follows no lost one.
    begin: f64,
    /// The probability that a lost packet is the last one of its run.
    end: f64,
    in_run: bool,
    generator: Generator,
    /// Packets lost so far.
    lost: u64,
}

impl Losses {
    fn new(WireLoss { share, run }: WireLoss, generator: Generator) -> Self {
        let end = 1.0 / run;
        Losses { begin: share * end / (1.0 - share), end, in_run: false, generator, lost: 0 }
    }

    /// Whether the next packet is lost.
    fn next(&mut self) -> bool {
        let turn = if self.in_run { self.end } else { self.begin };
        self.in_run ^= self.generator.random::<f64>() < turn;
        self.lost += u64::from(self.in_run);
        self.in_run
    }
}
