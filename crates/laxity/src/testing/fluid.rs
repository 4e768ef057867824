//! Generalised processor sharing from its definition.

use std::collections::{BTreeMap, VecDeque};
use std::vec::Vec;

use num_traits::Zero;

use crate::curve::{Exact, exact};
use crate::units::{NANOBITS_PER_BYTE, Nanos, Rate};

/// With this rate, packet lengths in multiples of [`EXACT_GRAIN`] and a sum of weights up to
/// [`EXACT_WEIGHT`], transmissions take whole nanoseconds and virtual times are whole numbers of
/// nanobits: both numbers are multiples of 1, 2, ..., 14.
pub(crate) const EXACT_RATE: Rate = Rate(36_036_000);
/// See [`EXACT_RATE`].
pub(crate) const EXACT_GRAIN: u32 = 9_009;
/// See [`EXACT_RATE`].
pub(crate) const EXACT_WEIGHT: u64 = 14;

/// A server that serves all backlogged classes at once, in proportion to their weights (Parekh and
/// Gallager 1993): in exact numbers of nanobits, and event by event. It knows no virtual time.
#[derive(Clone, Debug)]
pub(crate) struct Fluid {
    rate: Exact,
    weights: Vec<Exact>,
    /// Packets not finished, by class: handle and nanobits that are left.
    queues: Vec<VecDeque<(u64, Exact)>>,
    /// How much was served in all.
    pub served: Exact,
    /// By class.
    pub served_of_class: Vec<Exact>,
    /// How much had been served in all when each packet was finished.
    finished: BTreeMap<u64, Exact>,
    /// Work that may be done; `None` if it is not limited.
    granted: Option<Exact>,
    now: Nanos,
}

impl Fluid {
    /// A server that works at `rate` whenever something is there.
    pub(crate) fn at_rate(rate: Rate, weights: &[u64]) -> Self {
        Fluid {
            rate: exact(rate.0),
            weights: weights.iter().map(|&weight| exact(weight)).collect(),
            queues: weights.iter().map(|_| VecDeque::new()).collect(),
            served: Exact::zero(),
            served_of_class: weights.iter().map(|_| Exact::zero()).collect(),
            finished: BTreeMap::new(),
            granted: None,
            now: Nanos::ZERO,
        }
    }

    /// A server that works at `rate`, but only on granted work.
    pub(crate) fn on_grants(rate: Rate, weights: &[u64]) -> Self {
        Fluid { granted: Some(Exact::zero()), ..Fluid::at_rate(rate, weights) }
    }

    /// Lets it serve `length` bytes more.
    pub(crate) fn grant(&mut self, length: u32) {
        if let Some(granted) = &mut self.granted {
            *granted += nanobits(length);
        }
    }

    /// A packet arrives at the time that was advanced to.
    pub(crate) fn arrive(&mut self, handle: u64, class: usize, length: u32) {
        self.queues[class].push_back((handle, nanobits(length)));
    }

    /// Serves until `now`.
    pub(crate) fn advance(&mut self, now: Nanos) {
        let mut work = &self.rate * exact((now - self.now).0);
        self.now = now;
        if let Some(granted) = &mut self.granted {
            work = work.min(granted.clone());
            *granted -= &work;
        }
        self.serve(work);
    }

    /// The work done in all when each packet is finished, without further arrivals. Packets
    /// finished already have less.
    pub(crate) fn finishing_work(&self) -> BTreeMap<u64, Exact> {
        let mut future = self.clone();
        let left =
            |queue: &VecDeque<(u64, Exact)>| queue.iter().map(|(_, left)| left).sum::<Exact>();
        let backlog = self.queues.iter().map(left).sum();
        future.serve(backlog);
        future.finished
    }

    /// Whether nothing is left to serve.
    pub(crate) fn is_idle(&self) -> bool {
        self.queues.iter().all(VecDeque::is_empty)
    }

    fn serve(&mut self, mut work: Exact) {
        while !self.is_idle() && !work.is_zero() {
            let backlogged: Vec<usize> =
                (0..self.queues.len()).filter(|&class| !self.queues[class].is_empty()).collect();
            let weight = backlogged.iter().map(|&class| &self.weights[class]).sum::<Exact>();
            // The work of all classes together until one of them finishes its first packet.
            let step = backlogged
                .iter()
                .map(|&class| &self.queues[class][0].1 * &weight / &self.weights[class])
                .min()
                .expect("some class is backlogged")
                .min(work.clone());
            work -= &step;
            self.served += &step;
            for class in backlogged {
                let share = &step * &self.weights[class] / &weight;
                self.served_of_class[class] += &share;
                let (handle, left) = &mut self.queues[class][0];
                *left -= share;
                if left.is_zero() {
                    self.finished.insert(*handle, self.served.clone());
                    self.queues[class].pop_front();
                }
            }
        }
    }
}

/// A length in nanobits.
fn nanobits(length: u32) -> Exact {
    exact(u64::from(length)) * exact(NANOBITS_PER_BYTE)
}
