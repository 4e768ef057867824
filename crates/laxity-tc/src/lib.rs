//! Plans from traffic-control scripts for Linux, and from what `tc` shows.
//!
//! [`import`] interprets a shell script or a `tc -batch` file, or reads what `tc … show` printed,
//! and writes the plan that comes nearest to its qdiscs, classes and filters. A setting without a
//! counterpart in plans becomes a [`Note`] with its line and a comment at the head of the plan.
//!
//! A [`Setup`](setup::Setup) is the one model in between: the disciplines, classes and filters of
//! an interface, with their numbers. All that is read becomes items of it, and all that is written
//! is made from it:
//!
//! ```text
//! a script          shell      ┐
//! a run of it       recording  ├ words ┐
//! what tc shows     shown      ┘       ├ setup ─ assembly ─ rules, toml, draft ─ a plan
//! the kernel        netlink ───────────┘
//!
//! a plan ─ linux ─ setup ┬ export    a script, a batch, JSON, a file of networkd
//!                        └ netlink   messages for the kernel
//! ```
//!
//! An assembly is a set-up in the making: items with their lines. Rules are its filters and those
//! of `netfilter`, in the order in which Linux asks them, with the `packets` that each takes.
//!
//! ```
//! use laxity_tc::{Options, import};
//!
//! let script = "
//!     tc qdisc add dev eth0 root handle 1: hfsc default 20
//!     tc class add dev eth0 parent 1: classid 1:1 hfsc sc m2 10mbit
//!     tc class add dev eth0 parent 1:1 classid 1:10 hfsc sc umax 160b dmax 5ms rate 64kbit # voice
//!     tc class add dev eth0 parent 1:1 classid 1:20 hfsc ls m2 9mbit # rest
//!     tc filter add dev eth0 parent 1: protocol ip u32 match ip dport 5004 0xffff flowid 1:10
//! ";
//! let imported = import(script, "gateway.sh", &Options::default())?;
//! assert!(imported.plan.contains("rate = \"10mbit\""));
//! assert!(imported.plan.contains("[class.voice]"));
//! # Ok::<(), laxity_plan::PlanError>(())
//! ```
#![deny(missing_docs)]

mod assembly;
mod contract;
mod draft;
mod error;
pub mod export;
mod import;
pub mod linux;
mod netfilter;
pub mod netlink;
mod notes;
mod packets;
mod recording;
mod rules;
pub mod setup;
mod shell;
mod shown;
#[cfg(test)]
mod tests;
mod toml;
mod words;

pub use import::{Import, Options, import, import_objects, words};
pub use notes::{Note, NoteKind};
pub use recording::{RecordedCommand, Recording, import_recording, words_recorded};
pub use words::texts::{LARGEST_SCRIPT, Source};
