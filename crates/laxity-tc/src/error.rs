//! What reading gives where something is wrong, and how messages show what was read.

use laxity_plan::error::{Fault, shown};

/// What reading a command gives.
pub type Read<T> = Result<T, Fault>;

/// A text from outside on one line, for messages and comments.
pub fn plain(text: &str) -> String {
    let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    shown(text).chars().map(printable).collect()
}
