//! How a step ends.

/// How a step ended, or why it failed.
pub type Outcome = Result<Done, String>;

/// How a step that did not fail ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// It held.
    Passed,
    /// It could not be tried on this machine, for this reason.
    Skipped(String),
}
