//! Values that options of several commands take.

use std::ops::RangeInclusive;

use laxity::units::{Nanos, UnitError};

/// Reads a whole number of a range.
pub(super) fn whole<T>(within: RangeInclusive<u64>) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: TryFrom<u64> + 'static,
{
    move |text| {
        let number = text.parse().ok().filter(|number| within.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match within.end() {
            &u64::MAX => format!("accepted are whole numbers from {} on", within.start()),
            end => format!("accepted are whole numbers from {} to {end}", within.start()),
        })
    }
}

/// Reads a time above zero. A negative time is refused here, with the reason.
pub(super) fn duration(text: &str) -> Result<Nanos, String> {
    match text.parse() {
        Ok(Nanos::ZERO) => Err("a duration of zero is nothing at all: give more".into()),
        read => read.map_err(|error: UnitError| error.to_string()),
    }
}
