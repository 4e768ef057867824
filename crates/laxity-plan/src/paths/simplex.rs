//! The solver of linear programmes. What it answers is proved elsewhere, so that it may err.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use laxity::admit::network::programme::{Programme, Row, Solver};
use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};

/// The simplex algorithm of `microlp`.
pub(super) struct Simplex;

/// The time limit of one programme; the usual ones take a small part of it.
const TOO_LONG: Duration = Duration::from_secs(20);

impl Solver for Simplex {
    fn minimise(&self, programme: &Programme) -> Option<Vec<f64>> {
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let variable = |cost: &f64| problem.add_var(*cost, (0.0, f64::INFINITY));
        let variables: Vec<Variable> = programme.costs.iter().map(variable).collect();
        for Row { terms, at_least } in &programme.rows {
            let terms: Vec<_> =
                terms.iter().map(|(of, factor)| (variables[*of], *factor)).collect();
            problem.add_constraint(terms, ComparisonOp::Ge, *at_least);
        }
        problem.set_time_limit(TOO_LONG);
        // A solver that gives up in the middle has found nothing.
        let solved = catch_unwind(AssertUnwindSafe(|| problem.solve())).ok()?;
        let solution = solved.ok()?.into_solution().ok()?;
        Some(variables.iter().map(|variable| solution.var_value(*variable)).collect())
    }
}
