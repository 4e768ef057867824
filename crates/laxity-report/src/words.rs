//! Answers in words: the only place where sentences are made of them.

mod advice;
mod cause;
mod reason;
mod term;
mod trap;
mod verdict;

pub use advice::advice;
pub use cause::{cause, rule};
pub use reason::{answer, clock_binding, listed, statement};
pub use term::term;
pub use trap::{Remark, remarks};
pub use verdict::{broken, broken_line, compared, excused, headline, lines};
