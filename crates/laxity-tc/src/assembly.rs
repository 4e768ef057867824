//! The set-up of one interface as commands, or the kernel, tell of it item by item.

mod class;
mod commands;
mod discipline;
mod entry;
mod filter;
mod object;
mod qdisc;
mod root;
mod state;

pub(crate) use commands::Commands;
pub(crate) use discipline::{Discipline, Root, Shaper};
pub(crate) use entry::{Entry, Sign, TableEntry};
pub(crate) use state::{Assembly, Node};
