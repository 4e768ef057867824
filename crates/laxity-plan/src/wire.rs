//! Disturbances of a wire: losses, jitter, reordering and duplicates.
//!
//! Simulated links and links that are emulated draw from the same generators: the n-th packet that
//! one of the same seed sends is lost, held up and doubled alike.

#[cfg(test)]
mod tests;

use laxity::units::Nanos;
use rand::RngExt;

use crate::model::{Dist, Reorder, WireLoss, WireSpec};
use crate::random::{Generator, Sampler, generator};

/// The most packets and copies on a wire that is emulated, in one direction. More are lost.
pub const MOST_UNDER_WAY: usize = 65_536;

/// The disturbances of a wire. Each draws from a generator of its own, so that none changes
/// another.
#[derive(Clone, Debug)]
pub struct Wire {
    losses: Option<Losses>,
    jitter: Option<Delays>,
    reorder: Option<(f64, Delays)>,
    duplicate: Option<(f64, Generator)>,
    /// The last arrival of a packet that was not held up.
    last: Nanos,
    duplicated: u64,
}

/// A random delay.
#[derive(Clone, Debug)]
struct Delays {
    sampler: Sampler<Nanos>,
    generator: Generator,
}

/// The arrival of a packet, and of its copy if it was duplicated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "nothing else becomes of a packet")]
pub struct Arrivals {
    /// The packet's.
    pub first: Nanos,
    /// Its copy's.
    pub copy: Option<Nanos>,
}

/// Purposes of generators.
const LOSSES: u64 = 1;
const JITTER: u64 = 3;
const REORDER: u64 = 4;
const DUPLICATE: u64 = 5;

impl Wire {
    /// The disturbances of the wire behind an output of a network, by its number, or of the only
    /// one, 0. `None` if there are none.
    pub fn new(spec: &WireSpec, seed: u64, output: u64) -> Option<Wire> {
        (spec.loss.is_some() || spec.disturbs()).then(|| Wire::drawing(spec, seed, output))
    }

    /// As [`new`](Self::new), whether there are any or not: a wire without any keeps packets in
    /// order.
    pub fn drawing(spec: &WireSpec, seed: u64, output: u64) -> Wire {
        let generator = |purpose: u64| generator(seed, u64::MAX - purpose, output);
        let delays = |dist: Dist<Nanos>, purpose| Delays {
            sampler: Sampler::new(dist).expect("reading refuses what cannot be drawn from"),
            generator: generator(purpose),
        };
        let reorder = |Reorder { share, by }| (share, delays(by, REORDER));
        Wire {
            losses: spec.loss.map(|loss| Losses::new(loss, generator(LOSSES))),
            jitter: spec.jitter.map(|jitter| delays(jitter, JITTER)),
            reorder: spec.reorder.map(reorder),
            duplicate: spec.duplicate.map(|share| (share, generator(DUPLICATE))),
            last: Nanos::ZERO,
            duplicated: 0,
        }
    }

    /// Takes the place of another wire: packets stay behind those that are on that one.
    pub fn follow(&mut self, before: &Wire) {
        self.last = self.last.max(before.last);
    }

    /// Packets lost so far.
    pub fn lost(&self) -> u64 {
        self.losses.as_ref().map_or(0, |losses| losses.lost)
    }

    /// Packets so far that arrive twice.
    pub fn duplicated(&self) -> u64 {
        self.duplicated
    }

    /// Disturbs the next packet, which would arrive at `expected`. `None` if it is lost.
    pub fn next(&mut self, expected: Nanos) -> Option<Arrivals> {
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
