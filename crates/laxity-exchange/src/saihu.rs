//! Saihu's JSON: output-port networks (Tsai, Tabatabaee, Plassart, Le Boudec 2023).
//!
//! A file has servers with service curves, and flows that pass servers in a row. It does not say
//! which node a server is at. That follows from the flows: all servers behind one server are at the
//! node that it leads to.

mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;
