//! A laboratory: two hosts with real traffic between them, over a link that is too small for it.
//!
//! Calls and video share [20 Mbit/s](plan) with a flood of datagrams and bulk transfers. What calls get is
//! seen at the receiving host, by stamps that the sender puts in them.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`laboratory`] | the hosts and the link's two interfaces |
//! | [`traffic`] | what the one host sends to the other |
//! | [`listener`] | what comes there, and how late |

pub mod laboratory;
pub mod listener;
pub mod traffic;

use std::path::Path;

use laxity_plan::Plan;

pub use laboratory::Laboratory;
pub use listener::{Heard, Listener};
pub use traffic::{Stream, Traffic};

/// The plan of the link.
pub fn plan() -> Plan {
    let text = include_str!("demo/plan.toml");
    Plan::parse(text, "demo/plan.toml", Path::new("")).expect("it is read by a test")
}
