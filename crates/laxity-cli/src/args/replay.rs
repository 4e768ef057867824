//! `laxity replay` on the command line.

use std::path::PathBuf;

use clap::Args;

/// `laxity replay`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: laxity replay out/out-1764000000.ledger
Guide:   docs/live.md")]
pub(crate) struct Replay {
    /// A ledger that `laxity live --ledger` wrote.
    pub ledger: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
