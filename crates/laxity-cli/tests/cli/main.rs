//! The built command as a whole: what goes in, what comes out, and how it ends.

mod admission;
mod bad_input;
mod bad_recordings;
mod dwcs;
mod folder;
mod frames;
mod import;
mod network;
mod outputs;
mod packets;
mod promises;

/// Every discipline that a plan can be run under.
const SCHEDULERS: [&str; 13] = [
    "fifo",
    "wfq",
    "wf2q",
    "drr",
    "hfsc",
    "edf/background",
    "edf/total-bandwidth",
    "edf/shifted-line",
    "edf/two-line",
    "edf/two-line-fast",
    "edf/exact",
    "dwcs/loss-first",
    "dwcs/deadline-first",
];
