//! Words of commands, and what they come to: items of a set-up.

pub mod args;
pub mod batch;
pub mod class;
pub mod command;
pub mod filter;
pub mod json;
pub mod qdisc;
pub mod quantity;
mod queue;
pub mod size_table;
pub mod texts;

/// What is read of a command, and what of its words is lost, in sentences without a full stop.
pub type WithLosses<T> = (T, Vec<String>);
