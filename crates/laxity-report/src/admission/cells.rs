//! What a column of the table says about a class.

use super::class::ClassAnswer;
use crate::quantity::{self, NOTHING, TimeUnit};

/// A column of the table: its heading, and what it says about a class.
pub(super) type Column = (String, Box<dyn Fn(&ClassAnswer) -> String>);

/// The unit of all times that the table tells of classes.
pub(super) fn unit(classes: &[ClassAnswer]) -> TimeUnit {
    let times = |class: &ClassAnswer| {
        let gap = class.streams.as_ref().and_then(|streams| streams.gap_ns);
        [class.deadline_ns, class.bound_ns, class.slack_ns, class.shortest_deadline_ns, gap]
    };
    TimeUnit::of_whole(classes.iter().flat_map(times))
}

/// A column of times.
pub(super) fn times(name: &str, unit: TimeUnit, time: fn(&ClassAnswer) -> Option<u64>) -> Column {
    (unit.bracketed(name), cell(time, move |ns| unit.whole(Some(ns))))
}

/// A rate in Mbit/s.
pub(super) fn megabits(
    rate: fn(&ClassAnswer) -> Option<u64>,
) -> Box<dyn Fn(&ClassAnswer) -> String> {
    cell(rate, |bps| quantity::megabits(bps as f64))
}

/// Anything that a class may have.
pub(super) fn cell<T: 'static>(
    of: fn(&ClassAnswer) -> Option<T>,
    show: impl Fn(T) -> String + 'static,
) -> Box<dyn Fn(&ClassAnswer) -> String> {
    Box::new(move |class| of(class).map_or(NOTHING.to_string(), &show))
}

/// What a class could change: wanted of some, and sought for the most demanding of these.
pub(super) fn mend(
    wanted: fn(&ClassAnswer) -> bool,
    of: fn(&ClassAnswer) -> Option<u64>,
    show: impl Fn(u64) -> String + 'static,
) -> Box<dyn Fn(&ClassAnswer) -> String> {
    Box::new(move |class| match of(class) {
        Some(mend) => show(mend),
        None if wanted(class) && !class.mends_sought => "not sought".to_string(),
        None => NOTHING.to_string(),
    })
}
