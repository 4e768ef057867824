//! What sources must do.

mod formats;
mod links;
mod models;
mod recordings;
mod tshark;
