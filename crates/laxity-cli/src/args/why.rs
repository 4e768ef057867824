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

Guide: docs/why.md")]
pub(crate) struct Why {
    /// The plan; - reads standard input.
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
    /// Simulate the plan without each other class, on a link that is a quarter faster, and under
    /// each discipline that admits it, and show the three changes that help most.
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
    /// Also write this file, which must not be there yet: a page of HTML with the timeline of the
    /// whole run, at the packets that are listed.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
