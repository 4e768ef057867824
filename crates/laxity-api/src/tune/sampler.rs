//! Where in a space it is tried next.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tpe::TpeOptimizer;

use crate::sweep::space::latin_hypercube;

/// Points between 0 and 1 in some directions: first a Latin hypercube, then, in each direction by
/// itself, what a tree-structured Parzen estimator takes from what came of the points before
/// (Bergstra, Bardenet, Bengio, Kégl 2011). The same seed and the same outcomes give the same
/// points.
pub(super) struct Sampler {
    /// By direction.
    first: Vec<Vec<f64>>,
    told: usize,
    estimators: Vec<TpeOptimizer>,
    draw: Pcg64,
}

/// One of this number of points belongs to the hypercube.
const FIRST: usize = 4;

impl Sampler {
    pub(super) fn new(directions: usize, points: usize, seed: u64) -> Sampler {
        let whole = tpe::range(0.0, 1.0).expect("0 is below 1");
        let estimator = |_| TpeOptimizer::new(tpe::parzen_estimator(), whole);
        Sampler {
            first: latin_hypercube(directions, points.div_ceil(FIRST), seed),
            told: 0,
            estimators: (0..directions).map(estimator).collect(),
            draw: Pcg64::seed_from_u64(seed),
        }
    }

    /// The next point.
    pub(super) fn ask(&mut self) -> Vec<f64> {
        if let Some(point) = self.first.iter().map(|of| of.get(self.told).copied()).collect() {
            return point;
        }
        let Sampler { estimators, draw, .. } = self;
        let mut one = |estimator: &mut TpeOptimizer| {
            estimator.ask(draw).unwrap_or_else(|_| draw.random::<f64>())
        };
        estimators.iter_mut().map(&mut one).collect()
    }

    /// What came of a point: the less, the better.
    pub(super) fn tell(&mut self, point: &[f64], miss: f64) {
        self.told += 1;
        for (estimator, part) in self.estimators.iter_mut().zip(point) {
            // What it does not take, it does not learn from.
            let _ = estimator.tell(*part, miss);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest squared distance from `center` among `points` points of a sampler.
    fn best(seed: u64, points: usize, center: [f64; 2]) -> f64 {
        let mut sampler = Sampler::new(2, points, seed);
        let mut best = f64::INFINITY;
        for _ in 0..points {
            let point = sampler.ask();
            assert!(point.iter().all(|part| (0.0..1.0).contains(part)), "{point:?}");
            let miss = point.iter().zip(center).map(|(a, b)| (a - b).powi(2)).sum();
            sampler.tell(&point, miss);
            best = best.min(miss);
        }
        best
    }

    #[test]
    fn it_gets_nearer_than_the_hypercube() {
        let mut wins = 0;
        for seed in 0..20 {
            let center = [0.15 + 0.03 * seed as f64, 0.9 - 0.04 * seed as f64];
            let evenly = {
                let points = latin_hypercube(2, 60, seed);
                let miss = |at: usize| (0..2).map(|of| (points[of][at] - center[of]).powi(2)).sum();
                (0..60).map(miss).fold(f64::INFINITY, f64::min)
            };
            wins += usize::from(best(seed, 60, center) < evenly);
        }
        assert!(wins >= 15, "{wins} of 20");
    }

    #[test]
    fn the_same_seed_gives_the_same_points() {
        assert_eq!(best(3, 40, [0.3, 0.7]), best(3, 40, [0.3, 0.7]));
        assert_ne!(best(3, 40, [0.3, 0.7]), best(4, 40, [0.3, 0.7]));
    }
}
