//! Answers in words: the only place where sentences are made of them.

mod reason;
mod trap;
mod verdict;

pub(crate) use reason::clock_binding;
pub use reason::{answer, listed, statement};
pub use trap::{Remark, remarks};
pub use verdict::{broken, broken_line, compared, excused, headline, lines};
