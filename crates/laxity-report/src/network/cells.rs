//! What tables of networks have in common.

use laxity_sim::summary::EndToEnd;

use crate::quantity::NOTHING;

/// Longest name that is shown whole.
pub(super) const NAME_LIMIT: usize = 24;

/// Jain's index, where it says anything.
pub(super) fn fairness(class: &EndToEnd) -> String {
    match class.fairness {
        Some(index) if class.flows > 1 => format!("{index:.3}"),
        _ => NOTHING.to_owned(),
    }
}
