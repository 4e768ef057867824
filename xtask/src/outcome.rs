//! How a step ends.

/// How a step ended, or why it failed.
pub(crate) type Outcome = Result<Status, String>;

/// How a step that did not fail ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// It held.
    Passed,
    /// It could not be tried on this machine, for this reason.
    Skipped(String),
}
