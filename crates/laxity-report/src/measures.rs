//! Columns that tables share: what is measured of a class, at a link, at a hop or from end to end.

use laxity_sim::summary::Measures;

use crate::columns::Column;
use crate::quantity::percent;

/// A row of a table, with the measures that all classes have.
pub(crate) trait MeasuredRow {
    /// What is measured of its class.
    fn measures(&self) -> Measures<'_>;
}

impl<'a, T> MeasuredRow for &'a T
where
    Measures<'a>: From<&'a T>,
{
    fn measures(&self) -> Measures<'_> {
        (*self).into()
    }
}

/// The distribution of delays in whole, and what limits it; `promise` is the head of the deadline.
pub(crate) fn delays<T: MeasuredRow>(promise: &'static str) -> Vec<Column<T>> {
    let columns = [
        Column::time("min", |class: &T| Some(class.measures().delay?.min as f64)),
        mean(),
        Column::time("p50", |class: &T| Some(class.measures().delay?.p50 as f64)),
        p99(),
        Column::time("p99.9", |class: &T| Some(class.measures().delay?.p99_9 as f64)),
        max(),
        bound(),
        Column::time(promise, deadline),
    ];
    columns.into_iter().map(|column| column.below("Delay")).collect()
}

/// The mean delay.
pub(crate) fn mean<T: MeasuredRow>() -> Column<T> {
    Column::time("mean", |class: &T| Some(class.measures().delay?.mean))
}

/// The delay that one packet of a hundred exceeds.
pub(crate) fn p99<T: MeasuredRow>() -> Column<T> {
    Column::time("p99", |class: &T| Some(class.measures().delay?.p99 as f64))
}

/// The largest delay.
pub(crate) fn max<T: MeasuredRow>() -> Column<T> {
    Column::time("max", |class: &T| Some(class.measures().delay?.max as f64))
        .alarming(|class| class.measures().is_late())
}

/// The delay that is proved.
pub(crate) fn bound<T: MeasuredRow>() -> Column<T> {
    Column::time("bound", |class: &T| Some(class.measures().bound_ns? as f64))
}

/// The delay that a class is promised, in ns.
pub(crate) fn deadline<T: MeasuredRow>(class: &T) -> Option<f64> {
    Some(class.measures().deadline_ns? as f64)
}

/// Whether a class is promised a delay.
pub(crate) fn has_deadline<T: MeasuredRow>(class: &T) -> bool {
    class.measures().deadline_ns.is_some()
}

/// What became of packets beside being sent or dropped.
pub(crate) fn fates<T: MeasuredRow>() -> [Column<T>; 3] {
    let loss = Column::text("loss", |class: &T| Some(percent(class.measures().loss_ratio)));
    [loss.if_any(|class| class.measures().loss_ratio > 0.0), marked(), missed()]
}

/// Packets that queues marked, in tables where there are any.
pub(crate) fn marked<T: MeasuredRow>() -> Column<T> {
    Column::count("marked", |class: &T| Some(class.measures().marked))
        .if_any(|class| class.measures().marked > 0)
}

/// Packets that took longer than promised, of classes that are promised a delay.
pub(crate) fn missed<T: MeasuredRow>() -> Column<T> {
    Column::count("missed", |class: &T| class.measures().missed_deadline())
        .alarming(|class| class.measures().missed_deadline().is_some_and(|missed| missed > 0))
}
