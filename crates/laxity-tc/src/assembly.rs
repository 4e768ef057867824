//! The set-up of one interface as commands, or the kernel, tell of it item by item.

mod class;
mod commands;
mod discipline;
mod elsewhere;
mod entry;
mod filter;
mod interface;
mod object;
mod qdisc;
mod root;
mod state;

pub use commands::Commands;
pub use discipline::{Discipline, Root, Shaper};
pub use entry::{Entry, Sign, TableEntry};
pub use state::{Assembly, Node};
