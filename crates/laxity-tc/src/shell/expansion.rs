//! What the words of a command come to: parameters, arithmetic, braces and patterns.

pub mod arithmetic;
pub mod braces;
pub mod escapes;
pub mod operations;
pub mod parameters;
pub mod pattern;
pub mod regex;
pub mod words;
