//! How a script is called.

use std::collections::BTreeMap;

use crate::error::Span;

/// What a script is called with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    /// Its arguments; `None` if they are not given.
    pub arguments: Option<Vec<String>>,
    /// The environment. Its values also stand in for those that the script gives and that are not
    /// known.
    pub variables: BTreeMap<String, String>,
    /// Files that the script may read with `.` or `source`: name, and place in the text.
    pub files: Vec<(String, Span)>,
}
