//! What sources must do.

mod models;
mod recordings;
