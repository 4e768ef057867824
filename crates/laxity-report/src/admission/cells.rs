//! What a column of the table says about a class.

use laxity_answers::link::ClassProof;

use crate::quantity::{self, NOTHING, TimeUnit};

/// A column of the table: its heading, and what it says about a class.
pub(super) type Column = (String, Box<dyn Fn(&ClassProof) -> String>);

/// The unit of all times of classes in the table.
pub(super) fn unit(classes: &[ClassProof]) -> TimeUnit {
    let times = |class: &ClassProof| {
        let gap = class.streams.as_ref().and_then(|streams| streams.gap_ns);
        [class.deadline_ns, class.bound_ns, class.slack_ns, class.shortest_deadline_ns, gap]
    };
    TimeUnit::from_whole(classes.iter().flat_map(times))
}

/// A column of times.
pub(super) fn times(name: &str, unit: TimeUnit, time: fn(&ClassProof) -> Option<u64>) -> Column {
    (unit.bracketed(name), cell(time, move |ns| unit.whole(Some(ns))))
}

/// A rate in Mbit/s.
pub(super) fn megabits(rate: fn(&ClassProof) -> Option<u64>) -> Box<dyn Fn(&ClassProof) -> String> {
    cell(rate, |bps| quantity::megabits(bps as f64))
}

/// Anything that a class may have.
pub(super) fn cell<T: 'static>(
    of: fn(&ClassProof) -> Option<T>,
    show: impl Fn(T) -> String + 'static,
) -> Box<dyn Fn(&ClassProof) -> String> {
    Box::new(move |class| of(class).map_or(NOTHING.to_string(), &show))
}

/// What a class could change. It is wanted of some classes, and sought for the most demanding of
/// them.
pub(super) fn suggestion(
    wanted: fn(&ClassProof) -> bool,
    of: fn(&ClassProof) -> Option<u64>,
    show: impl Fn(u64) -> String + 'static,
) -> Box<dyn Fn(&ClassProof) -> String> {
    Box::new(move |class| match of(class) {
        Some(suggestion) => show(suggestion),
        None if wanted(class) && !class.suggestions_sought => "not sought".to_string(),
        None => NOTHING.to_string(),
    })
}
