//! What the words of a command come to: parameters, arithmetic, braces and patterns.

pub(super) mod arithmetic;
pub(super) mod braces;
pub(super) mod escapes;
pub(super) mod operations;
pub(super) mod parameters;
pub(super) mod pattern;
pub(super) mod words;
