//! What came of a command's promises, which is its exit code.

/// What a command that ran came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promises {
    /// Every promise was kept: exit code 0.
    Kept,
    /// A plan does not fit, a deadline was missed or a figure lies outside its tolerance: exit
    /// code 1.
    Broken,
    /// Another command ran, and its exit code is this.
    Command(u8),
}

impl Promises {
    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Promises::Kept => 0,
            Promises::Broken => 1,
            Promises::Command(code) => code,
        }
    }

    /// Kept if this is so.
    pub(crate) fn kept_if(kept: bool) -> Promises {
        if kept { Promises::Kept } else { Promises::Broken }
    }
}
