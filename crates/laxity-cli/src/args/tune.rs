//! What `laxity tune` takes.

use std::path::PathBuf;

use clap::Args;

/// `laxity tune`.
#[derive(Args, Debug)]
#[command(after_help = "\
The file says what is sought:

  version = 1
  plan = \"home-uplink.toml\"
  seeds = 5                        # 1 to 5, or a list
  duration = \"10s\"
  [minimise]                       # one after the other, each as small as can be
  \"link.rate\" = { from = \"5mbit\", to = \"50mbit\" }
  \"class.video.deadline\" = { from = \"5ms\", to = \"60ms\" }
  [choose]                         # free
  \"class.web.weight\" = { from = 1, to = 100, log = true }
  [[goal]]                         # under every seed
  class = \"web\"
  figure = \"delay_ns.p99\"          # as summary.json names it
  at_most = \"20ms\"                 # or at_least

The plan must be admitted, too, and every run keep its promises. The folder gets plan.toml, report.html and the
runs; the same command goes on after an interruption. Exits with 1 if nothing that was tried holds.

Example: laxity tune examples/uplink-tune-study.toml --out out/uplink
Guide:   docs/tune.md")]
pub(crate) struct Tune {
    /// What is sought.
    pub file: PathBuf,
    /// The folder of the plan that is found, and of the runs; those that are there count.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Print JSON: what was found, all that was tried, and the proof.
    #[arg(long)]
    pub json: bool,
}
