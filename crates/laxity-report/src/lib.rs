//! Laxity's results made visible: terminal tables, figures, HTML reports and the manifest of what
//! a run wrote.
//!
//! Words, quantities and JSON are always there; tables, figures and pages need the feature `pages`.
//!
//! Everything here is a pure function from measured results to text; writing it anywhere is the
//! caller's business. The same results give the same bytes.
#![deny(missing_docs)]

#[cfg(feature = "pages")]
pub mod admission;
#[cfg(feature = "pages")]
pub mod autorate;
#[cfg(feature = "pages")]
pub mod breakdown;
#[cfg(feature = "pages")]
pub mod calls;
#[cfg(feature = "pages")]
pub mod causes;
#[cfg(feature = "pages")]
pub mod chart;
#[cfg(feature = "pages")]
pub mod classes;
#[cfg(feature = "pages")]
pub mod columns;
#[cfg(feature = "pages")]
pub mod comparison;
#[cfg(feature = "pages")]
pub mod explanation;
#[cfg(feature = "pages")]
pub mod fate;
#[cfg(feature = "pages")]
pub mod figures;
#[cfg(feature = "pages")]
mod flame;
pub mod format;
#[cfg(feature = "pages")]
pub mod html;
pub mod json;
#[cfg(feature = "pages")]
pub mod link;
pub mod manifest;
#[cfg(feature = "pages")]
mod measures;
#[cfg(feature = "pages")]
pub mod network;
#[cfg(feature = "pages")]
pub mod parts;
pub mod quantity;
#[cfg(feature = "pages")]
pub mod run;
#[cfg(feature = "pages")]
pub mod seeds;
#[cfg(feature = "pages")]
pub mod service;
#[cfg(feature = "pages")]
pub mod table;
#[cfg(feature = "pages")]
mod threads;
#[cfg(feature = "pages")]
mod timeline;
pub mod visible;
#[cfg(feature = "pages")]
pub mod why;
pub mod words;
#[cfg(feature = "pages")]
pub mod worst;

#[cfg(all(test, feature = "pages"))]
mod testing;
