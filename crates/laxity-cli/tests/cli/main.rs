//! The built command as a whole: what goes in, what comes out, and how it ends.

mod admission;
#[cfg(target_os = "linux")]
mod apply;
mod bad_input;
mod bad_recordings;
mod calls;
#[cfg(target_os = "linux")]
mod datagrams;
mod dwcs;
#[cfg(target_os = "linux")]
mod emulate;
mod escapes;
mod explain;
mod export;
mod fast;
mod fitting;
mod folder;
mod frames;
mod golden;
mod history;
mod import;
#[cfg(target_os = "linux")]
mod import_run;
#[cfg(target_os = "linux")]
mod link_report;
#[cfg(target_os = "linux")]
mod live;
mod names;
mod network;
mod new;
mod outputs;
mod outside;
mod overwriting;
mod packaging;
mod packets;
mod pages;
mod promises;
mod queued;
#[cfg(target_os = "linux")]
mod routers;
mod seeds;
mod several;
#[cfg(target_os = "linux")]
mod sight;
#[cfg(unix)]
mod signals;
mod stdin;
mod stories;
mod streams;
mod sweep;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(unix)]
mod timeline;
mod traces;
mod tune;
mod verdicts;
#[cfg(target_os = "linux")]
mod watch;
mod why;
mod why_stored;
#[cfg(target_os = "linux")]
mod why_watched;
mod worst_case;

use laxity_plan::discipline::Kind;
use laxity_plan::model::SchedulerSpec;

/// Every scheduler that a plan can be run under, in each of its variants.
fn schedulers() -> Vec<&'static str> {
    SchedulerSpec::names().collect()
}

/// Every discipline that a link can have.
fn kinds() -> Vec<&'static str> {
    let of_links = Kind::ALL.iter().filter(|kind| !kind.room().is_of_networks);
    of_links.map(|kind| kind.word()).collect()
}
