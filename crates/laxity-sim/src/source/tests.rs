//! What sources must do.

mod formats;
mod links;
mod models;
mod recordings;
pub(crate) mod testing;
mod tshark;
