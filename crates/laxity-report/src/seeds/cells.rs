//! Means over seeds as cells of tables.

use laxity_answers::seeds::{Estimate, Seeds};

use crate::format::Format;
use crate::quantity::{NOTHING, TimeUnit};

/// Half the width of a mean's confidence interval. `times` is the unit of all times in the table.
pub(super) fn spread(estimate: &Estimate, times: TimeUnit) -> String {
    let format = Format::new(estimate.figure);
    estimate.half_width.map_or(NOTHING.to_owned(), |half| format.text(half, times))
}

/// A mean. `times` is the unit of all times in the table.
pub(super) fn mean(estimate: &Estimate, times: TimeUnit) -> String {
    Format::new(estimate.figure).text(estimate.mean, times)
}

/// The unit of all times in a table of some runs.
pub(super) fn unit(runs: &[Seeds]) -> TimeUnit {
    let times = runs.iter().flat_map(|run| &run.figures);
    let times = times.filter(|one| Format::new(one.figure) == Format::Time);
    TimeUnit::new(times.flat_map(|one| [Some(one.mean), Some(one.max)]))
}
