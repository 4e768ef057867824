//! liblaxity: Laxity for C, and for every language that calls C.
//!
//! `include/laxity.h` is made from this crate and says all that a caller has to know; the
//! [guide](../../../docs/embedding.md) shows it at work. Types and functions are named here as they
//! are there.
//!
//! Every entry point has the same form: [`entry`] checks its handle, keeps panics in, and turns
//! what the body returns into a status and a text. A body is safe code but for the pointers that it
//! reads and writes through `sized` and `pointer`.
//!
//! | module | what it has |
//! | --- | --- |
//! | [`status`], [`error`] | how a call ended, and its text |
//! | [`entry`], `pointer`, `sized`, `ticket` | the boundary: handles, pointers, structs that grow |
//! | [`plan`], [`proof`] | plans, and what is proved of them |
//! | [`packet`], [`reason`] | what crosses for a packet, and why it was chosen or dropped |
//! | `replaceable`, [`scheduler`] | a scheduler whose plan may be replaced, and its calls |
//! | [`classify`], [`police`], [`pacer`] | the entrance and the pace of a link |
//! | [`engine`], [`producer`] | a scheduler on a thread of its own |
//! | [`deadline_queue`] | datagrams that are due, expire and have ranks |
//! | `udp` | a sink that sends datagrams itself, on Linux |
//! | [`book`] | reservations |
#![allow(non_camel_case_types, reason = "C reads these names")]
#![deny(missing_docs)]

pub mod book;
pub mod classify;
pub mod deadline_queue;
pub mod engine;
pub mod entry;
pub mod error;
pub mod pacer;
pub mod packet;
pub mod plan;
pub mod pointer;
pub mod police;
pub mod producer;
pub mod proof;
pub mod reason;
mod replaceable;
pub mod scheduler;
mod sized;
pub mod status;
mod ticket;
#[cfg(target_os = "linux")]
pub mod udp;

pub use sized::Sized as SizedStruct;
