//! Laxity in a browser: what `laxity-api` is asked and answers, as bytes, for a page's worker.
//!
//! A message, in either direction, is the length of its JSON in four bytes (little endian), the
//! JSON, and the bytes of files behind it. [`answer()`] makes an answer of a question. In a module
//! for browsers [`abi`] exports it by plain functions of numbers, so that no tool has to write what
//! calls them.
#![deny(missing_docs)]

pub mod abi;
mod answer;
mod fault;
mod files;
mod message;
mod question;

pub use answer::answer;
pub use message::{Message, Misread};
