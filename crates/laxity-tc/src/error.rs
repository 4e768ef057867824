//! Texts from outside in messages.

use laxity_plan::error::shown;

/// A text from outside on one line, for messages and comments.
pub(crate) fn plain(text: &str) -> String {
    on_one_line(&shown(text))
}

/// A text from outside on one line, however long it is.
pub(crate) fn on_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
