//! What came of a command's promises, which is its exit code.

use std::process::ExitCode;

use laxity_api::Judged;

/// What a command that ran came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promises {
    /// Every promise was kept: exit code 0.
    Kept,
    /// A plan does not fit, a deadline was missed or a figure lies outside its tolerance: exit
    /// code 1.
    Broken,
}

impl Promises {
    /// Kept if this is so.
    pub fn kept_if(kept: bool) -> Promises {
        if kept { Promises::Kept } else { Promises::Broken }
    }
}

impl<'a, S: 'a> FromIterator<&'a Judged<S>> for Promises {
    fn from_iter<I: IntoIterator<Item = &'a Judged<S>>>(runs: I) -> Promises {
        Promises::kept_if(runs.into_iter().all(|run| run.verdict.kept))
    }
}

impl From<Promises> for ExitCode {
    fn from(promises: Promises) -> ExitCode {
        ExitCode::from(promises as u8)
    }
}
