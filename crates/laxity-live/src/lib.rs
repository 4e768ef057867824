//! Laxity on a link.
//!
//! Between two interfaces frames go both ways, each way in the order in which they come or under a
//! plan of its own. One thread, most often of real-time priority, takes frames in, classifies,
//! polices, schedules and paces them with [`laxity_forward`], and hands them over with
//! [`laxity_linux`]. It tells what happens through a ring that it writes without waiting for
//! anyone; [`Recorder`] reads that on another thread, and keeps books of what was measured beside
//! what is promised.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`bridge`] | both directions over a backend, without a clock |
//! | [`forwarding`] | the thread that runs a bridge: waits, follows other plans, drains |
//! | [`recorder`] | what happened, by class |
//! | [`log`] | the same, plan after plan |
//! | [`ledgers`] | every event as bytes, for a simulator to repeat |
//! | [`capture`] | frames for Wireshark, each with what became of it |
//! | [`spool`] | files that nobody waits for |
//! | [`service`] | what systemd is told |
//! | [`links`] | interfaces that come and go |
//! | [`status`] | what is shown of it all |
//! | [`interval`] | what is new between two of these |
//! | [`history`] | what is kept for a report |
//! | [`whole`] | a file that is written at the end |
//! | [`daemon`] | all of it as a process: interfaces, signals, privileges |
//! | [`request`] | what others ask a process for |
//! | [`server`] | answers over HTTP: control by a Unix socket, metrics and a page for all who may see them |
//! | [`metrics`] | what is exposed to Prometheus |
//! | [`client`] | asks what runs on this machine |
//! | [`routers`] | the nodes of a network in place of a bridge |
//! | [`cut`] | frames that a kernel left to the interface to cut |
//! | [`demo`] | hosts with traffic between them, for demonstrations and tests |
//! | [`watch`] | any shaper, measured from outside |
#![cfg(target_os = "linux")]
#![deny(missing_docs)]

mod asking;
pub mod bridge;
pub mod capture;
pub mod client;
pub mod cut;
pub mod daemon;
mod delays;
pub mod demo;
pub mod forwarding;
mod fresh;
pub mod history;
pub mod interval;
pub mod ledgers;
pub mod links;
pub mod log;
pub mod metrics;
mod process;
mod prover;
pub mod recorder;
pub mod request;
pub mod routers;
mod running;
pub mod server;
pub mod service;
pub mod spool;
pub mod status;
pub mod watch;
pub mod whole;
mod work;

pub use bridge::{Bridge, Way};
pub use daemon::{Daemon, LiveError};
pub use forwarding::{Forwarding, Options, Stopped};
pub use recorder::{Measured, Recorder};
