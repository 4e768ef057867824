//! What every step of reading shares.

use std::ops::Range;

use crate::error::Fault;
use crate::matching::{Match, MatchError};
use crate::raw::{At, Measure, Quantity};

/// What every step of reading gives.
pub(crate) type Read<T> = Result<T, Fault>;

/// The most classes that a plan has, and the most streams and the most sources that all of its
/// counts make.
pub(crate) const MOST: usize = 1_000_000;
/// Reads the quantity of a key that cannot be zero.
pub(crate) fn positive<T: Measure>(key: &str) -> impl Fn(&Quantity<T>) -> Read<T> {
    move |quantity| match quantity.value.0.units() {
        0 => Err(zero(key, &quantity.span)),
        _ => Ok(quantity.value.0),
    }
}

/// Refuses the zero of a key.
pub(crate) fn zero(key: &str, span: &Range<usize>) -> Fault {
    Fault::at(span, format!("`{key}` is zero: it must be more"))
}

/// Reads a match expression; its error points into the string.
pub(crate) fn matching(raw: &At<String>, text: &str) -> Read<Match> {
    raw.value.parse().map_err(|error: MatchError| {
        let quoted = text.get(raw.span.clone()).unwrap_or_default();
        let plain = quoted.len() == raw.value.len() + 2 && quoted[1..].starts_with(&raw.value);
        let begin = raw.span.start + 1;
        let span =
            if plain { begin + error.span.start..begin + error.span.end } else { raw.span.clone() };
        Fault::at(&span, format!("`match`: {}", error.message()))
            .help(format!("accepted here: {}", error.expected))
    })
}
