//! Runs under several seeds: of every figure its mean and its confidence interval, and one verdict
//! over all.

mod cells;
mod html;
mod pictures;
mod tables;

pub use html::{compare_html, html};
pub use tables::{compare_table, compared, explained, figures_table, range, sameness};
