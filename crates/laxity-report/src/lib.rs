//! Laxity's results made visible: terminal tables, figures, HTML reports and the manifest of what
//! a run wrote.
//!
//! Everything here is a pure function from measured results to text; writing it anywhere is the
//! caller's business. The same results give the same bytes.
#![deny(missing_docs)]

pub mod admission;
pub mod chart;
pub mod classes;
pub mod columns;
pub mod comparison;
pub mod figures;
pub mod gone;
pub mod html;
pub mod json;
pub mod link;
pub mod manifest;
mod measures;
pub mod network;
pub mod quantity;
pub mod run;
pub mod seeds;
pub mod study;
pub mod table;
pub mod tune;
pub mod visible;
pub mod words;
pub mod worst;

#[cfg(test)]
mod sample;
