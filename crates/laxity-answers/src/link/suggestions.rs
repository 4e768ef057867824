//! For which classes it is sought what they could change alone to make a plan pass.

use laxity::curve::Exact;

/// The number of classes that are looked at; fewer where there are many, as the cost grows with
/// their number.
const MOST: usize = 16;
const MOST_TIMES_CLASSES: usize = 4_000;

/// The classes with the most work, of classes and their work.
pub(super) fn most_demanding(work: Vec<(usize, Exact)>) -> impl Iterator<Item = usize> {
    let most = MOST.min(MOST_TIMES_CLASSES / work.len().max(1));
    let mut by_work = work;
    by_work.sort_by(|(_, a), (_, b)| b.cmp(a));
    by_work.into_iter().take(most).map(|(class, _)| class)
}
