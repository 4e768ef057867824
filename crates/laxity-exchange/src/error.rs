//! Errors of reading and writing files of other tools.

use std::fmt;

/// One sentence: what is wrong, where, and what is accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    place: Option<String>,
    message: String,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Error {
        Error { place: None, message: message.into() }
    }

    /// An error at a place in the file: a line, or a path of keys.
    pub(crate) fn at(place: impl fmt::Display, message: impl Into<String>) -> Error {
        Error { place: Some(place.to_string()), message: message.into() }
    }

    /// The place, if there is one: a line and a column, or a path of keys.
    pub fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }

    /// The message without the place.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// A text from outside for a message, shortened and without control characters.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let clean: String =
        text.chars().take(MOST).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().nth(MOST).is_some() { clean + "…" } else { clean }
}
