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
//! | [`bridge`] | both directions between two interfaces |
//! | `autorate` | the rate of a link that nobody knows, found while frames are forwarded |
//! | [`routers`] | nodes of a network |
//! | `worker` | the thread that runs either, and the ring in which it tells events |
//! | `workers` | the threads that serve a link together |
//! | [`daemon`] | either as a process |
//! | [`process`] | signals, privileges, reloads, interfaces that come and go |
//! | [`reservations`] | classes that come and go while a link is forwarded over |
//! | [`rsvp`] | reservations by RSVP, for a router whose link is forwarded over |
//! | [`mod@file`] | ledgers, captures and reports |
//! | [`archive`] | the last hour, day and week in a file of fixed size |
//! | [`status`] | what is shown of it all |
//! | [`server`] | answers over HTTP: control by a Unix socket, metrics and a page for all who may see them |
//! | [`metrics`] | what is exposed to Prometheus |
//! | [`client`] | asks what runs on this machine |
//! | `confined` | threads that have given up all privileges |
//! | [`cut`] | frames that a kernel left to the interface to cut |
//! | [`emulate`] | a command behind an emulated link |
//! | [`demo`] | hosts with traffic between them, for demonstrations and tests |
//! | [`bypass`] | a second process that has the kernel bridge interfaces while the first does not forward |
//! | [`watch`] | any shaper, measured from outside |
#![cfg(target_os = "linux")]
#![deny(missing_docs)]

pub mod archive;
mod autorate;
pub mod bridge;
pub mod bypass;
pub mod client;
mod confined;
pub mod cut;
pub mod daemon;
pub mod demo;
pub mod emulate;
mod error;
pub mod file;
pub mod metrics;
pub mod process;
pub mod reservations;
pub mod routers;
pub mod rsvp;
pub mod server;
pub mod status;
pub mod watch;
mod worker;
mod workers;

pub use autorate::FoundRate;
pub use bridge::{Bridge, Forwarding, Recorder, Way, WayMeasurement};
pub use daemon::{Daemon, FrameSockets};
pub use error::{LiveError, ReattachError, ReloadError, StartError, WorkerError};
pub use worker::{Counts, Options, Report, Reports, Turn, Worker};
