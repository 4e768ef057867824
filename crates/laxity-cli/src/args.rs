//! The command line.

mod bench;
mod check;
mod exchange;
mod export;
mod fit;
mod import;
#[cfg(target_os = "linux")]
mod linux;
mod new;
mod replay;
#[cfg(feature = "papers")]
mod reproduce;
mod run;
mod sweep;
mod tune;
mod value;
mod why;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use bench::{Bench, Case, Load};
pub(crate) use check::Check;
pub(crate) use exchange::{
    ExportNetwork, ExportTsnkit, ImportLibreqos, ImportNetwork, ImportTsnkit, ImportVyos,
};
pub(crate) use export::{ExportTc, ExportTo, Format, Target};
pub(crate) use fit::Fit;
pub(crate) use import::{ImportFrom, ImportTc};
#[cfg(target_os = "linux")]
pub(crate) use linux::{
    Apply, Emulate, FrameBackend, ImportKernel, Instance, LinuxCommand, Live, Monitoring, Release,
    Reservations, Reserve, Rsvp, Running, Status, Watch,
};
pub(crate) use new::{New, matter};
pub(crate) use replay::Replay;
#[cfg(feature = "papers")]
pub(crate) use reproduce::Reproduce;
pub(crate) use run::{Compare, PacketFile, Run, Traffic};
pub(crate) use sweep::Sweep;
pub(crate) use tune::Tune;
pub(crate) use why::Why;

/// Schedule packets by deadline, and prove it.
///
/// A plan is one TOML file: a link, its classes, a scheduler, and for a simulation the sources.
/// `check` proves what the plan promises, `run` measures it and prints promise beside measurement.
#[derive(Debug, Parser)]
#[command(name = "laxity", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done, and every promise was kept
  1  it ran, but a plan is not admitted, a promise was broken (a deadline missed, a proved bound
     exceeded, packets of a promised class dropped, a window with more losses than its class
     tolerates) or a figure lies outside its tolerance
  2  bad input or usage; nothing was written
  3  the system refused (permission, disk)
`emulate` ends with the exit code of its command.";

/// One thing to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write plans for an access link: five questions, or the settings of a router.
    New(New),
    /// Prove a plan: does it fit, and what delay has each class?
    Check(Check),
    /// Simulate a plan and print what each class got beside what it was promised.
    Run(Run),
    /// Run the same arrivals through several schedulers, side by side.
    Compare(Compare),
    /// Say what delayed packets of a run, cause by cause.
    Why(Why),
    /// Run a plan with many values and seeds, into a store of tables.
    Sweep(Sweep),
    /// Find the smallest link, the shortest deadlines, weights that keep goals.
    Tune(Tune),
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    Linux(LinuxCommand),
    /// Give a live link's ledger to the simulator, and compare every dispatch and drop.
    Replay(Replay),
    /// Read the classes' arrival curves off recorded traffic.
    Fit(Fit),
    /// Write the plan for what shapes a link today.
    Import {
        /// What to read.
        #[command(subcommand)]
        from: ImportFrom,
    },
    /// Write what another system is given for a plan.
    Export {
        /// For what.
        #[command(subcommand)]
        to: ExportTo,
    },
    /// Repeat a paper's experiment and hold its figures against ours.
    #[cfg(feature = "papers")]
    Reproduce(Reproduce),
    /// Measure the schedulers: nanoseconds a packet.
    Bench(Bench),
    /// Print the plan's JSON Schema, for editors.
    Schema(Schema),
    /// Print what completes the command in a shell.
    Completions(Completions),
    /// Write the manual pages.
    Manual(Manual),
}

/// `laxity completions`.
#[derive(Args, Debug)]
#[command(after_help = "Example: laxity completions bash > /etc/bash_completion.d/laxity")]
pub(crate) struct Completions {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// `laxity manual`.
#[derive(Args, Debug)]
#[command(after_help = "Example: laxity manual man1 && man -l man1/laxity-live.1")]
pub(crate) struct Manual {
    /// The folder for the pages, one for each command.
    pub folder: PathBuf,
}

/// `laxity schema`.
#[derive(Args, Debug)]
pub(crate) struct Schema {
    /// Print JSON, as this command always does.
    #[arg(long)]
    pub json: bool,
}
