//! The built command as a whole: what goes in, what comes out, and how it ends.

mod admission;
mod bad_input;
mod bad_recordings;
mod dwcs;
mod escapes;
mod export;
mod fast;
mod fitting;
mod folder;
mod frames;
mod golden;
mod import;
#[cfg(target_os = "linux")]
mod import_run;
#[cfg(target_os = "linux")]
mod link_report;
#[cfg(target_os = "linux")]
mod live;
mod names;
mod network;
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
#[cfg(target_os = "linux")]
mod sight;
#[cfg(unix)]
mod signals;
mod stdin;
mod sweep;
#[cfg(target_os = "linux")]
mod terminal;
mod tune;
mod verdicts;
#[cfg(target_os = "linux")]
mod watch;
mod worst_case;

/// Every discipline that a plan can be run under.
const SCHEDULERS: [&str; 17] = [
    "fifo",
    "wfq",
    "wf2q",
    "drr",
    "qfq",
    "hfsc",
    "priority",
    "fq-codel",
    "dualpi2",
    "edf/background",
    "edf/total-bandwidth",
    "edf/shifted-line",
    "edf/two-line",
    "edf/two-line-fast",
    "edf/exact",
    "dwcs/loss-first",
    "dwcs/deadline-first",
];
