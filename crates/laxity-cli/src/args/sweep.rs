//! What `laxity sweep` takes.

use std::path::PathBuf;

use clap::Args;
use laxity_api::sweep::Shard;

/// `laxity sweep`.
#[derive(Args, Debug)]
#[command(after_help = "\
A study is a file:

  version = 1
  plan = \"home-uplink.toml\"
  seeds = 20                       # 1 to 20, or a list
  duration = \"10s\"
  [grid]                           # each value with each other
  \"class.video.deadline\" = [\"20ms\", \"30ms\"]
  scheduler = [\"edf\", \"hfsc\"]

Besides [grid] there are [[list]], combinations one by one, and [sample], a Latin hypercube. Runs that are in
the folder are not made again: the same command goes on after an interruption.

Example: laxity sweep examples/deadlines-study.toml --out out/deadlines --figure delay_ns.p99
Guide:   docs/sweep.md")]
pub(crate) struct Sweep {
    /// The study.
    pub study: PathBuf,
    /// The folder of the runs; those that are there count.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Make only this part of the runs, such as 3/10: the third part, where ten machines share the
    /// folder.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
    /// Print tables of these figures, as summary.json names them.
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "delay_ns.p99")]
    pub figure: Vec<String>,
    /// Print JSON: every figure, over the seeds of each combination.
    #[arg(long)]
    pub json: bool,
}

fn shard(text: &str) -> Result<Shard, String> {
    let shard = text
        .split_once('/')
        .and_then(|(number, of)| Shard::new(number.trim().parse().ok()?, of.trim().parse().ok()?));
    shard.ok_or_else(|| "a part is a number of so many, from 1/N to N/N".to_owned())
}
