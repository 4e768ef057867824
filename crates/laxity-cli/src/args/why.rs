//! `laxity why` on the command line.

use std::path::PathBuf;

use clap::Args;
use laxity::units::Nanos;

use super::value::{duration, whole};

/// `laxity why`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  laxity why examples/home-uplink.toml --class audio
  laxity why examples/home-uplink.toml --class audio --without upload --with link.rate=12mbit
  laxity why out/home-uplink --missed
  laxity why out/out-1764000000.ledger --slower-than 5ms

Guide: docs/why.md")]
pub(crate) struct Why {
    /// The plan, a folder that `laxity run --out` wrote, or a ledger that `laxity live --ledger`
    /// wrote; - reads a plan from standard input.
    pub plan: PathBuf,
    /// Only packets of this class.
    #[arg(long, value_name = "NAME")]
    pub class: Option<String>,
    /// List the N slowest packets.
    #[arg(long, value_name = "N", default_value = "3", allow_negative_numbers = true,
          value_parser = whole::<u32>(0..=100_000))]
    pub slowest: u32,
    /// Only packets that were delayed for longer than this, such as 5ms.
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub slower_than: Option<Nanos>,
    /// Only packets that missed their deadline.
    #[arg(long)]
    pub missed: bool,
    /// Only the packet with this number in the order of arrival, from 0, as in packets.csv; on one
    /// link.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub packet: Option<u64>,
    /// Simulate the same arrivals without those of this class, and say what became of the packets.
    /// --without, --with and --scheduler may be given several times: each is a run.
    #[arg(long, value_name = "CLASS")]
    pub without: Vec<String>,
    /// The same with another value at a key of the plan, such as link.rate=12mbit.
    #[arg(long, value_name = "KEY=VALUE")]
    pub with: Vec<String>,
    /// The same under this discipline; see `laxity check --help`.
    #[arg(long, value_name = "KIND")]
    pub scheduler: Vec<String>,
    /// Try up to twenty changes of the plan, each with a run, and show the three that help most: a
    /// faster link, the class's weight, level or deadline, each discipline that admits the plan,
    /// and the plan without classes that are in the way.
    #[arg(long, conflicts_with_all = ["without", "with", "scheduler"])]
    pub propose: bool,
    /// How long sources send, such as 30s [default: the plan's, else 10s, else all of a recording].
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub duration: Option<Nanos>,
    /// The seed of every random draw [default: the plan's, else 1].
    #[arg(long, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Take packets from this CSV, pcap or pcapng file instead of the plan's sources; - reads
    /// standard input.
    #[arg(long, value_name = "FILE")]
    pub arrivals: Option<PathBuf>,
    /// Sort what is recorded by time, where the clock stepped back.
    #[arg(long)]
    pub sort: bool,
    /// Simulate nothing: explain what a shaper did to the packets of this capture, which was
    /// recorded before it, by the capture behind it.
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "FILE", requires = "behind",
          conflicts_with_all = ["without", "with", "scheduler", "propose", "duration", "seed",
                                "arrivals", "sort"])]
    pub before: Option<PathBuf>,
    /// The capture behind the shaper.
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "FILE", requires = "before")]
    pub behind: Option<PathBuf>,
    /// Frames of --behind were recorded where they arrived, with their last bits, rather than where
    /// they were sent.
    #[cfg(target_os = "linux")]
    #[arg(long, requires = "before")]
    pub mirror: bool,
    /// Also draw into this folder: why.html, with a timeline of the run at the packets that are
    /// listed; causes.svg, their delays cut by cause; under EDF demand.svg, and under H-FSC
    /// service.svg and virtual-times.svg.
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
