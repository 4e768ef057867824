//! What sources must do.

mod links;
mod models;
mod recordings;
mod tshark;
