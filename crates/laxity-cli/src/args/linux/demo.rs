//! `laxity live --demo` on the command line.

use clap::Args;

/// What it is tried by.
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// Try it between two hosts made of network namespaces: audio, video, bulk transfers and a
    /// flood over 20 Mbit/s, first under FIFO and then under EDF, for --duration in all [default: 2
    /// min]. Needs root or user namespaces, and leaves nothing behind.
    #[arg(long, conflicts_with_all = ["plan", "from", "to", "back", "dev", "port", "backend", "ledger", "capture",
                                      "listen", "control", "report"])]
    pub demo: bool,
    /// With --demo: print JSON.
    #[arg(long, requires = "demo")]
    pub json: bool,
}
