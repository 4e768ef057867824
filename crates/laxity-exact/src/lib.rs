//! Exact assignment of frames for [time-driven priority](laxity::sched::tdp): a largest set of
//! flows that have room together, and so a smallest set whose removal mends a plan that does not
//! fit.
//!
//! [`Ledger::reserve_all`](laxity::admit::tdp::Ledger::reserve_all) is quick and leaves few flows
//! out, but does not know whether they are as few as can be. Here a bound says at once how many can
//! be placed at most; only if fewer were placed, a solver is asked whether there is room for more.
//!
//! The solver is [Pumpkin](https://docs.rs/pumpkin-solver), of TU Delft: constraint programming
//! with lazy clause generation, in Rust alone, maintained, under MIT or Apache-2.0. It takes
//! capacities as the linear inequalities that they are, learns from conflicts, and can be stopped
//! after a number of steps instead of a time, so that answers are always the same. HiGHS and SCIP
//! need CMake and more; SAT solvers would need the inequalities spelled out, and the mixed-integer
//! solvers in Rust do not learn, which proofs of infeasibility live on.
//!
//! # Size
//! There is one variable for each flow and frame that it can start in, one more for each hop with
//! spare delay and frame, and one inequality for each frame of each output. Forty flows over a ring
//! of ten outputs with 20 frames are decided in seconds, twice as many often are; where hundreds
//! compete, an answer that the effort cuts short still has its bound.

mod bound;
mod model;
#[cfg(test)]
mod tests;

use laxity::admit::tdp::{Flow, Ledger, Reservation};

use model::Answer;

/// The result of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The reservation of each flow; `None` for a flow that is left out.
    pub reservations: Vec<Option<Reservation>>,
    /// Proved upper bound on the number of flows that can be placed.
    pub most: usize,
}

impl Assignment {
    /// Number of flows that are placed.
    pub fn placed(&self) -> usize {
        self.reservations.iter().flatten().count()
    }

    /// Whether it is proved that no more flows can be placed. Otherwise the effort was not enough.
    pub fn is_optimal(&self) -> bool {
        self.placed() == self.most
    }

    /// Numbers of the flows that are left out. If the assignment is optimal, no smaller set makes
    /// room for the others.
    pub fn left_out(&self) -> impl Iterator<Item = usize> + '_ {
        let left_out = self.reservations.iter().enumerate().filter(|(_, one)| one.is_none());
        left_out.map(|(flow, _)| flow)
    }

    /// Takes an answer of the solver, and returns whether there was one.
    fn learn(&mut self, answer: Answer, wanted: usize) -> bool {
        match answer {
            Answer::Placed(reservations) => self.reservations = reservations,
            Answer::Impossible => self.most = wanted - 1,
            Answer::Unknown => return false,
        }
        true
    }
}

/// Places as many flows as there is room for beside what is reserved in a ledger.
///
/// The solver takes at most `effort` steps in all. A step is a decision or a conflict with its
/// consequences; there are some ten thousand per second. With an effort of 0, the result is that of
/// [`Ledger::reserve_all`], with a bound. The same input always has the same result.
///
/// # Panics
/// As [`Ledger::reserve`].
pub fn assign(ledger: &Ledger, flows: &[Flow], effort: u64) -> Assignment {
    let reservations = ledger.clone().reserve_all(flows).into_iter().map(Result::ok).collect();
    let most = bound::most(ledger, flows);
    let mut found = Assignment { reservations, most };
    let mut left = effort;
    // The bound is often met or nearly so: try half of the rest first.
    while !found.is_optimal() {
        let mut share = left / 2;
        left -= share;
        let answer = model::place(ledger, flows, found.most, &mut share);
        left += share;
        if !found.learn(answer, found.most) {
            break;
        }
    }
    while !found.is_optimal() {
        let wanted = found.placed() + 1;
        let answer = model::place(ledger, flows, wanted, &mut left);
        if !found.learn(answer, wanted) {
            break;
        }
    }
    found
}
