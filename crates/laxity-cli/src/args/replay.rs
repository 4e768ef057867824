//! `laxity replay` on the command line.

use std::path::PathBuf;

use clap::Args;

/// `laxity replay`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  laxity replay out/out-1764000000.ledger
  laxity replay out/out-1764000000.ledger --trace out.perfetto-trace

Guide:   docs/live.md")]
pub(crate) struct Replay {
    /// A ledger that `laxity live --ledger` wrote.
    pub ledger: PathBuf,
    /// Write a trace of all packets into this file, to look at on ui.perfetto.dev. An earlier file
    /// is replaced.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
