//! What reading gives where something is wrong, and how messages show what was read.

use laxity_plan::error::shown;

/// A text from outside on one line, for messages and comments.
pub(crate) fn plain(text: &str) -> String {
    on_one_line(&shown(text))
}

/// The same, however long it is.
pub(crate) fn on_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
