//! `laxity watch` on the command line.

use std::path::PathBuf;

use clap::Args;
use laxity::units::Nanos;

use super::control::Monitoring;
use crate::args::value::duration;

/// `laxity watch`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples: laxity watch examples/home-uplink.toml --in eth1 --out eth0
          laxity watch plan.toml --in mirror1 --out mirror2 --mirror --duration 60s

Pairs frames at --in with those at --out by their content, for any shaper in between. Each mirror port must show
one direction only. `laxity status` and `laxity top` show the measurement while it runs; SIGINT and SIGTERM end it.
Needs CAP_NET_RAW; gives up all privileges once the interfaces are open. Exits with 1 if a packet took longer than
its bound, or the plan is not admitted.

Guide: docs/watch.md")]
pub(crate) struct Watch {
    /// The plan whose classes are measured and whose bounds stand beside.
    pub plan: PathBuf,
    /// Where frames arrive that go to the shaper.
    #[arg(long = "in", value_name = "INTERFACE")]
    pub from: String,
    /// Where they leave it.
    #[arg(long = "out", value_name = "INTERFACE")]
    pub to: String,
    /// Frames that have left the shaper arrive at --out, as on a mirror port, rather than being
    /// sent there.
    #[arg(long)]
    pub mirror: bool,
    /// Addresses and ports are translated in between: packets are told apart without them.
    #[arg(long)]
    pub nat: bool,
    /// What has not left after this time is lost.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "5s",
          allow_hyphen_values = true)]
    pub timeout: Nanos,
    /// End after this time, such as 60s.
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub duration: Option<Nanos>,
    #[command(flatten)]
    pub monitoring: Monitoring,
    /// Print JSON, in the form of `laxity status`.
    #[arg(long)]
    pub json: bool,
}
