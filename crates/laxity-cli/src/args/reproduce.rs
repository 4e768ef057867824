//! `laxity reproduce` on the command line.

use std::path::PathBuf;

use clap::Args;
use laxity::units::Nanos;

use super::value::{duration, whole};

/// `laxity reproduce`.
#[derive(Args, Debug)]
#[command(after_help = "Example: laxity reproduce low-delay-best-effort --out out/paper")]
pub(crate) struct Reproduce {
    /// The paper [default: all of them].
    pub paper: Option<String>,
    /// How many seeds, from 1 on.
    #[arg(long, default_value_t = 5, value_parser = whole::<u64>(1..=1000))]
    pub seeds: u64,
    /// Simulate less than the paper did, for a quick look.
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub duration: Option<Nanos>,
    /// Write the figures into this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
