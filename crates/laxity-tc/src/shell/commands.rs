//! Commands of the shell itself, and programs whose output follows from their words.

pub(super) mod brackets;
pub(super) mod builtins;
pub(super) mod input;
pub(super) mod output;
pub(super) mod programs;
pub(super) mod reading;
pub(super) mod wrappers;
pub(super) mod xargs;
