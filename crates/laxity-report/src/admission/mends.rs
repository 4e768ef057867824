//! What one class alone could change to make a plan pass.

use laxity::curve::Exact;

/// What a class could change is sought for so many classes, for fewer where there are many: its
/// cost grows with their number.
const MOST_MENDS: usize = 16;
const MOST_MENDS_TIMES_CLASSES: usize = 4_000;

/// Of classes and their work, those with the most.
pub(super) fn most_demanding(work: Vec<(usize, Exact)>) -> impl Iterator<Item = usize> {
    let most = MOST_MENDS.min(MOST_MENDS_TIMES_CLASSES / work.len().max(1));
    let mut by_work = work;
    by_work.sort_by(|(_, a), (_, b)| b.cmp(a));
    by_work.into_iter().take(most).map(|(class, _)| class)
}
