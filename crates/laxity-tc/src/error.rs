//! Texts from outside in messages, and where they stand.

use std::ops::Range;

use laxity_plan::error::shown;

/// A part of the text that is read: of a script with the files beside it, or of commands written
/// down.
pub(crate) type Span = Range<usize>;

/// A text from outside on one line, for messages and comments.
pub(crate) fn plain(text: &str) -> String {
    on_one_line(&shown(text))
}

/// A text from outside on one line, however long it is.
pub(crate) fn on_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
