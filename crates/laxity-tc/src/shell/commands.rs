//! Commands of the shell itself, and programs whose output follows from their words.

pub mod brackets;
pub mod builtins;
pub mod declarations;
pub mod getopts;
pub mod netfilter;
pub mod output;
pub mod programs;
pub mod reading;
pub mod wrappers;
pub mod xargs;
