//! The set-up of one interface as commands, or the kernel, tell of it item by item.

mod classes;
mod commands;
mod elsewhere;
mod entry;
mod filters;
mod interface;
mod objects;
mod qdiscs;
mod root;
mod roots;
mod state;

pub use commands::Commands;
pub use entry::{Entry, Sign, TableEntry};
pub use root::{Discipline, Root, Shaper};
pub use state::{Assembly, Node};
