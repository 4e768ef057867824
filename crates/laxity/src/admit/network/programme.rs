//! Linear programs whose solutions prove a bound, for any solver.
//!
//! A solver works with floating-point numbers, so that none of its results is believed. It is asked
//! for multipliers of the constraints. Any multipliers bound the maximum by weak duality, and this
//! bound is computed in fractions. Where they miss dual feasibility by a little, the difference
//! counts at the greatest value that its variable may have (Neumaier, Shcherbina 2004, "Safe bounds
//! in linear and mixed-integer linear programming").

use alloc::vec;
use alloc::vec::Vec;

use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::curve::Exact;

/// A linear programme in floating-point numbers: the least `costs · x` with `x >= 0` and every row
/// of `terms · x >= at_least`.
#[derive(Clone, Debug, Default)]
pub struct Programme {
    /// One for each variable.
    pub costs: Vec<f64>,
    /// The constraints.
    pub rows: Vec<Row>,
}

/// A constraint of a [`Programme`].
#[derive(Clone, Debug)]
pub struct Row {
    /// Variables, by number, each once, and their factors.
    pub terms: Vec<(usize, f64)>,
    /// Lower bound of the sum.
    pub at_least: f64,
}

/// A solver of linear programs. Its accuracy decides how tight bounds are, never whether they hold.
pub trait Solver {
    /// Variables that come close to the least cost; `None` if none are found.
    fn minimise(&self, programme: &Programme) -> Option<Vec<f64>>;
}

/// The greatest value of a variable under linear constraints, in fractions.
#[derive(Clone, Debug, Default)]
pub(super) struct Maximum {
    /// The greatest value that each variable may have; none is below zero.
    upper: Vec<Exact>,
    /// The unit of each variable for the solver.
    unit: Vec<f64>,
    constraints: Vec<AtMost>,
}

/// `terms · x <= bound`.
#[derive(Clone, Debug)]
struct AtMost {
    terms: Vec<(usize, Exact)>,
    bound: Exact,
}

impl Maximum {
    /// Adds a variable.
    pub(super) fn variable(&mut self, upper: Exact, unit: f64) -> usize {
        self.upper.push(upper);
        self.unit.push(unit);
        self.upper.len() - 1
    }

    /// Adds the constraint that a sum is no more than `bound`. A variable may come several times.
    pub(super) fn at_most(
        &mut self,
        terms: impl IntoIterator<Item = (usize, Exact)>,
        bound: Exact,
    ) {
        let mut sum: Vec<(usize, Exact)> = Vec::new();
        for (variable, factor) in terms {
            match sum.iter_mut().find(|term| term.0 == variable) {
                Some(term) => term.1 += factor,
                None => sum.push((variable, factor)),
            }
        }
        sum.retain(|(_, factor)| !factor.is_zero());
        if !sum.is_empty() {
            self.constraints.push(AtMost { terms: sum, bound });
        }
    }

    /// How many variables there are.
    pub(super) fn variables(&self) -> usize {
        self.upper.len()
    }

    /// A value that a variable cannot exceed; the solver's multipliers decide how close it is to
    /// the greatest.
    pub(super) fn bound(&self, variable: usize, solver: &dyn Solver) -> Exact {
        let (dual, units) = self.dual(variable);
        let multipliers = match solver.minimise(&dual) {
            Some(found) if found.len() == units.len() => found,
            _ => vec![0.0; units.len()],
        };
        let exact = |(found, unit): (&f64, &f64)| fraction(found * unit);
        let multipliers: Vec<_> = multipliers.iter().zip(&units).map(exact).collect();
        self.proved(variable, &multipliers)
    }

    /// The dual programme in the solver's units, and the unit of each multiplier.
    fn dual(&self, variable: usize) -> (Programme, Vec<f64>) {
        let float = |x: &Exact| x.to_f64().unwrap_or(f64::MAX);
        let mut rows: Vec<_> =
            (0..self.variables()).map(|_| Row { terms: Vec::new(), at_least: 0.0 }).collect();
        rows[variable].at_least = 1.0;
        let (mut costs, mut units) = (Vec::new(), Vec::new());
        for (number, AtMost { terms, bound }) in self.constraints.iter().enumerate() {
            let scaled: Vec<_> =
                terms.iter().map(|(of, factor)| (*of, float(factor) * self.unit[*of])).collect();
            let largest = scaled.iter().map(|term| term.1.abs()).fold(0.0, f64::max);
            for (of, factor) in scaled {
                rows[of].terms.push((number, factor / largest));
            }
            costs.push(float(bound) / largest);
            units.push(self.unit[variable] / largest);
        }
        (Programme { costs, rows }, units)
    }

    /// Weak duality: with multipliers y >= 0, and the objective c,
    /// `c x <= y b + sum over j of (c - y A)_j x_j`.
    fn proved(&self, variable: usize, multipliers: &[Exact]) -> Exact {
        let mut missing = vec![Exact::zero(); self.variables()];
        missing[variable] = Exact::one();
        let mut bound = Exact::zero();
        for (of, AtMost { terms, bound: at_most }) in multipliers.iter().zip(&self.constraints) {
            if of.is_positive() {
                bound += of * at_most;
                for (variable, factor) in terms {
                    missing[*variable] -= of * factor;
                }
            }
        }
        let gaps = missing.iter().zip(&self.upper).filter(|(gap, _)| gap.is_positive());
        (bound + gaps.map(|(gap, upper)| gap * upper).sum::<Exact>())
            .min(self.upper[variable].clone())
    }
}

/// A fraction close to a number, of few digits.
pub(super) fn fraction(x: f64) -> Exact {
    const BITS: usize = 64;
    let scaled = Exact::from_float(x).unwrap_or_else(Exact::zero) * pow2(BITS);
    scaled.round() / pow2(BITS)
}

fn pow2(bits: usize) -> Exact {
    Exact::from_integer(BigInt::one() << bits)
}
