//! `laxity export` on the command line, and what it asks of a kernel.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use laxity::units::Nanos;
use laxity_api::{ExportFormat, Filters, Linux};

use super::exchange::{ExportNetwork, ExportTsnkit};

/// Where a plan may be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    /// By the disciplines of Linux.
    Linux,
}

/// What a plan cannot say of a kernel.
#[derive(Args, Debug)]
pub(crate) struct Kernel {
    /// For linux: how late a timer of the kernel may be, which every bound counts. 1ms covers
    /// high-resolution timers under load; without them it is a tick, such as 4ms where HZ is 250
    /// [default: 1ms].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub timer: Option<Nanos>,
    /// For linux: whether frames of several segments reach the queue, as `ethtool -k` shows of
    /// tcp-segmentation-offload and generic-segmentation-offload [default: on].
    #[arg(long, value_name = "STATE")]
    pub offload: Option<Offload>,
    /// For linux: what filters are written as. u32 is for kernels without flower, and takes IPv4
    /// headers to have no options [default: flower].
    #[arg(long, value_name = "KIND")]
    pub filters: Option<FilterKind>,
}

/// Whether interfaces take frames apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Offload {
    /// They do: a packet may be of 64 kB.
    On,
    /// They do not.
    Off,
}

/// Kinds of filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FilterKind {
    /// By fields.
    Flower,
    /// By bits.
    U32,
}

impl Kernel {
    /// Whether anything is said.
    pub(crate) fn is_said(&self) -> bool {
        self.timer.is_some() || self.offload.is_some() || self.filters.is_some()
    }

    /// The machine.
    pub(crate) fn linux(&self) -> Linux {
        let usual = Linux::default();
        Linux {
            timer: self.timer.unwrap_or(usual.timer),
            offload: self.offload.map_or(usual.offload, |offload| offload == Offload::On),
            filters: match self.filters {
                None | Some(FilterKind::Flower) => Filters::Flower,
                Some(FilterKind::U32) => Filters::U32,
            },
        }
    }
}

/// What a plan is written for.
#[derive(Debug, Subcommand)]
pub(crate) enum ExportTo {
    /// For the disciplines of Linux: fifo, drr, qfq, hfsc, priority (as prio) and fq-codel; wfq and
    /// wf2q as qfq or hfsc.
    Tc(ExportTc),
    /// For Saihu, and through it xTFA, Panco and DNC: output ports as JSON.
    Saihu(ExportNetwork),
    /// For WoPANets, xTFA and Saihu: nodes and links as XML.
    Wopanet(ExportNetwork),
    /// For tsnkit: streams and links of a plan in time frames, as two CSV files.
    Tsnkit(ExportTsnkit),
}

/// `laxity export tc`.
#[derive(Args, Debug)]
#[command(after_help = "\
Every class has its promise as a comment: the bound that `laxity check --for linux` proves. A script clears what the
interface had. What Linux has no counterpart for is refused with the reason.

Exit codes: 0 written; 1 written, but not every promise holds under Linux; 2 refused, nothing written.

Examples: laxity export tc plan.toml --dev eth0 --out shape.sh
          laxity export tc up.toml --dev eth0 --ingress down.toml --out shape.sh
          laxity export tc plan.toml --dev eth0 --format batch | tc -batch -
          laxity export tc edf.toml --dev eth0 --nearest hfsc.toml
Guide:    docs/linux.md")]
pub(crate) struct ExportTc {
    /// The plan; - reads standard input.
    pub plan: PathBuf,
    /// The interface that sends to the link.
    #[arg(long, value_name = "IF")]
    pub dev: String,
    /// A plan for what arrives there, in the same script.
    #[arg(long, value_name = "PLAN", conflicts_with = "nearest")]
    pub ingress: Option<PathBuf>,
    /// What to write.
    #[arg(long, value_enum, default_value_t = Format::Script)]
    pub format: Format,
    /// Write into this file, which must not be there yet [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Where Linux has no counterpart: write the nearest plan that it has into this file, which
    /// must not be there yet, and say what holds of it.
    #[arg(long, value_name = "FILE")]
    pub nearest: Option<PathBuf>,
    #[command(flatten)]
    pub kernel: Kernel,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A shell script of tc commands.
    Script,
    /// Commands for tc -batch.
    Batch,
    /// What tc -j shows of it: qdiscs, classes and filters, a line each.
    Json,
    /// A file of systemd.network, for what it has sections for: fifo, fq-codel and codel.
    Networkd,
    /// A file of netplan, which has none.
    Netplan,
}

impl From<Format> for ExportFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Script => ExportFormat::Script,
            Format::Batch => ExportFormat::Batch,
            Format::Json => ExportFormat::Json,
            Format::Networkd => ExportFormat::Networkd,
            Format::Netplan => ExportFormat::Netplan,
        }
    }
}
