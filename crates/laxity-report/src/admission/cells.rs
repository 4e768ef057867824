//! What a column of the table says about a class.

use super::class::ClassAnswer;
use crate::quantity::{self, NOTHING};

/// A column of the table: its heading, and what it says about a class.
pub(super) type Column = (&'static str, Box<dyn Fn(&ClassAnswer) -> String>);

/// A time in milliseconds.
pub(super) fn millis(time: fn(&ClassAnswer) -> Option<u64>) -> Box<dyn Fn(&ClassAnswer) -> String> {
    cell(time, |ns| quantity::millis(ns as f64))
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
    show: fn(u64) -> String,
) -> Box<dyn Fn(&ClassAnswer) -> String> {
    Box::new(move |class| match of(class) {
        Some(mend) => show(mend),
        None if wanted(class) && !class.mends_sought => "not sought".to_string(),
        None => NOTHING.to_string(),
    })
}
