//! How a step ends.

/// How a step ended, or why it failed.
pub(crate) type Outcome = Result<Done, String>;

/// How a step that did not fail ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// It held.
    Passed,
    /// It could not be tried on this machine, for this reason.
    Skipped(String),
}
