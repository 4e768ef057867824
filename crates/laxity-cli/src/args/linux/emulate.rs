//! `laxity emulate` on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::control::Monitoring;
use super::live::Running;

/// `laxity emulate`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples: laxity emulate examples/lte-uplink.toml -- iperf3 -c 100.64.0.1
          laxity emulate --back down.toml up.toml -- bash

The command gets a network namespace whose only way out is the plan's link, with its rate or rate-trace, queues and
discipline, and behind that its wire: delay, jitter, loss, reorder, duplicate. This machine is at 100.64.0.1 (of
several emulations at once 100.64.1.1 and so on), which the command finds in $LAXITY_GATEWAY. As root and with
net.ipv4.ip_forward=1 the command reaches other machines, too. Other users get a user namespace, from which TCP
services of this machine are reached. The summary goes to standard error. The exit code is the command's.

Guide: docs/emulate.md")]
pub(crate) struct Emulate {
    /// The plan of what the command sends.
    pub plan: PathBuf,
    /// The plan of what the command receives [default: the same, with the seed that follows its
    /// own].
    #[arg(long, value_name = "PLAN")]
    pub back: Option<PathBuf>,
    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// Print the summary as JSON.
    #[arg(long)]
    pub json: bool,
    /// Write summary.json and report.html into this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub running: Running,
    #[command(flatten)]
    pub monitoring: Monitoring,
}
