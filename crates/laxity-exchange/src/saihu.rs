//! Saihu's JSON: output-port networks (Tsai, Tabatabaee, Plassart, Le Boudec 2023).
//!
//! A file has servers with service curves, and flows that pass servers in a row. Which node a
//! server is at is not said; it follows from what passes: all servers behind one server are at the
//! node that it leads to.

mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;
