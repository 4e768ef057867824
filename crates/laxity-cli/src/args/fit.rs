//! `laxity fit` on the command line.

use std::path::PathBuf;

use clap::Args;

use super::value::whole;

/// `laxity fit`.
#[derive(Args, Debug)]
#[command(after_help = "\
Prints for each class the `arrival = …` line that all its recorded packets keep to.

Example: laxity fit examples/home-uplink.toml")]
pub(crate) struct Fit {
    /// The plan, whose classes' `match` tells the packets apart; - reads standard input.
    pub plan: PathBuf,
    /// The recording; - reads standard input [default: the plan's source].
    #[arg(long, value_name = "FILE")]
    pub arrivals: Option<PathBuf>,
    /// Sort what is recorded by time; see `laxity run --help`.
    #[arg(long)]
    pub sort: bool,
    /// Put the fitted curves into the plan file, as the `arrival` of classes that have packets.
    #[arg(long)]
    pub write: bool,
    /// How far the fitted rate lies above the recorded mean, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = laxity_sim::fit::DEFAULT_HEADROOM_PERCENT,
          value_parser = whole::<u32>(0..=10_000))]
    pub headroom: u32,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
