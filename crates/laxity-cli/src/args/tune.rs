//! What `laxity tune` takes.

use std::path::PathBuf;

use clap::Args;

/// `laxity tune`.
#[derive(Args, Debug)]
#[command(after_help = "\
What is sought is said in a file:

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

Besides the goals the plan has to be admitted, and every run to keep its promises (docs/tune.md). The folder
gets plan.toml, report.html, and the runs, as of `laxity sweep`: the same command goes on after whatever
stopped it. Exits with 1 if nothing that was tried holds, and says what came nearest.

Example: laxity tune examples/uplink-tune-study.toml --out out/uplink")]
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
