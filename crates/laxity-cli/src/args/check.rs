//! `laxity check` on the command line.

use std::path::PathBuf;

use clap::Args;
use laxity::units::Nanos;

use super::export::{Kernel, Target};
use super::value::{duration, whole};

/// `laxity check`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples: laxity check examples/home-uplink.toml
          laxity check examples/home-uplink.toml --explain audio
          laxity check examples/gateway.toml --for linux --offload off
          laxity check examples/two-hops.toml --worst-case --out out/worst
          laxity run examples/two-hops.toml --arrivals out/worst/CLASS.csv
          laxity check examples/time-frames.toml --streams examples/time-frames-streams.json --json

The command with --arrivals runs traffic that the one before has found. With --streams it exits with 1 if any
listener fails.")]
pub(crate) struct Check {
    /// The plan; - reads standard input.
    pub plan: PathBuf,
    /// Check this discipline instead of the plan's.
    #[arg(long, value_name = "KIND", help = schedulers_help())]
    pub scheduler: Option<String>,
    /// Say what the bound of this class is made of, and how much of each term the slowest packet
    /// uses when the plan's sources send. May be given several times; `all` is every class.
    #[arg(long, value_name = "CLASS", conflicts_with = "target")]
    pub explain: Vec<String>,
    /// How long sources send for --explain, such as 30s [default: as for `laxity run`].
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true,
          requires = "explain")]
    pub duration: Option<Nanos>,
    /// For tdp: leave out as few flows as can be, by an exact solver.
    #[arg(long)]
    pub exact: bool,
    /// Prove the plan as it is carried out there: `linux` is the kernel's own disciplines, as
    /// `laxity export tc` sets them up, with their rounding, timers and offloads counted.
    #[arg(long = "for", value_name = "SYSTEM", conflicts_with = "exact")]
    pub target: Option<Target>,
    #[command(flatten)]
    pub kernel: Kernel,
    /// For networks: find how far each part could change while the rest stays as it is: the
    /// smallest rate of each link, the largest burst and the shortest deadlines of each class; and
    /// what breaks first as load grows.
    #[arg(long, conflicts_with = "target")]
    pub limits: bool,
    /// Search for traffic that delays each class longest, and print how long that is.
    #[arg(long, conflicts_with = "target")]
    pub worst_case: bool,
    /// How many packets are sent in the search, for each class along each path.
    #[arg(long, value_name = "N", requires = "worst_case", default_value_t = laxity_api::DEFAULT_PACKETS,
          value_parser = whole::<u64>(1_000..=u64::MAX))]
    pub packets: u64,
    /// What the search draws from.
    #[arg(long, value_name = "S", requires = "worst_case", default_value_t = 1)]
    pub seed: u64,
    /// Write what was found here: report.html, and the packets of each class and path as a CSV.
    #[arg(long, value_name = "DIR", requires = "worst_case")]
    pub out: Option<PathBuf>,
    /// Admit the streams in this file one after another, by IEEE 802.1Qcc: JSON of the YANG module
    /// ieee802-dot1q-cnc-config. With --json the answer is the same document with their status.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scheduler", "explain", "exact", "target", "limits", "worst_case"])]
    pub streams: Option<PathBuf>,
    /// Write the plan with the streams that are admitted into this file, which must not be there
    /// yet.
    #[arg(long, value_name = "PLAN", requires = "streams")]
    pub write: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Help that names the disciplines of plans.
fn schedulers_help() -> String {
    format!("Check this discipline instead of the plan's: {}", laxity_plan::discipline::accepted())
}
