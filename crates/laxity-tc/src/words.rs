//! Words of commands, and what they come to: items of a set-up.

pub(crate) mod batch;
pub(crate) mod cake;
pub(crate) mod class;
pub(crate) mod command;
pub(crate) mod filter;
pub(crate) mod json;
pub(crate) mod qdisc;
pub(crate) mod quantity;
mod queue;
pub(crate) mod size_table;
pub(crate) mod texts;

/// What is read of a command, and what of its words is lost, in sentences without a full stop.
pub(crate) type WithLosses<T> = (T, Vec<String>);
