//! `laxity import` on the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand};
#[cfg(target_os = "linux")]
use laxity::units::Nanos;
use laxity::units::Rate;

use super::exchange::{ImportLibreqos, ImportNetwork, ImportTsnkit, ImportVyos};
#[cfg(target_os = "linux")]
use super::linux::ImportKernel;
#[cfg(target_os = "linux")]
use super::value::duration;

/// What a plan is imported from.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportFrom {
    /// From a script that sets up hfsc, htb, qfq, drr, prio or fq_codel on Linux, or from what
    /// `tc … show` prints of one.
    Tc(ImportTc),
    /// From a network of Saihu, output ports as JSON.
    Saihu(ImportNetwork),
    /// From a network of WoPANets, xTFA or Saihu, nodes and links as XML.
    Wopanet(ImportNetwork),
    /// From streams and links of tsnkit, as two CSV files; for time-driven priority.
    Tsnkit(ImportTsnkit),
    /// From a provider's tree of nodes and table of circuits, as LibreQoS has them.
    Libreqos(ImportLibreqos),
    /// From a traffic policy of VyOS.
    Vyos(ImportVyos),
    /// From what an interface has under Linux, by netlink: exact, where `tc` shows some digits.
    #[cfg(target_os = "linux")]
    Kernel(ImportKernel),
}

/// `laxity import tc`.
#[derive(Args, Debug)]
#[command(after_help = "\
What the plan says in another way, or not at all, is listed on standard error and at the head of the
plan. Without --run nothing in the script is run; with it, the sandbox keeps the script from changing or
reaching anything.

Examples: laxity import tc examples/gateway.tc --out plan.toml
          laxity import tc shaper.sh --arg start --set UPLINK=9500
          laxity import tc --run shaper.sh start
          laxity import tc --run --set UPLINK=9500 --out plan.toml -- ./shaper.sh -v start
          (tc -s -d qdisc show dev eth0; tc class show dev eth0; tc filter show dev eth0) | laxity import tc -
Guide:    docs/import.md")]
pub(crate) struct ImportTc {
    /// A shell script, a `tc -batch` file, or what `tc … show` or `tc -j … show` printed; - reads
    /// standard input.
    #[arg(value_name = "FILE")]
    pub script: PathBuf,
    /// With --run, arguments of the script.
    #[cfg_attr(target_os = "linux", arg(value_name = "ARG", requires = "run"))]
    #[cfg_attr(not(target_os = "linux"), arg(skip))]
    pub words: Vec<String>,
    /// Write the plan into this file, which must not be there yet [default: standard output].
    #[arg(long, value_name = "PLAN")]
    pub out: Option<PathBuf>,
    /// The rate of the link, such as 10mbit [default: that of the one class at the top].
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub link_rate: Option<Rate>,
    /// The interface whose set-up is wanted [default: the one with a hfsc or htb qdisc, or else
    /// the one with prio, or else with fq_codel].
    #[arg(long, value_name = "NAME")]
    pub dev: Option<String>,
    /// An argument of the script: $1, and given again $2 and so on.
    #[arg(long = "arg", value_name = "VALUE", allow_hyphen_values = true)]
    pub arguments: Vec<String>,
    /// A variable of the script's environment, which also has this value where the script takes it
    /// from another program, unless it is run; as often as needed.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = variable)]
    pub variables: Vec<(String, String)>,
    /// A file that the script reads with `.` or `source`, found by its name; as often as needed.
    #[arg(long = "source", value_name = "FILE")]
    pub sources: Vec<PathBuf>,
    /// Have the script's own shell run it in a sandbox, and import what it issues.
    #[cfg(target_os = "linux")]
    #[arg(long, conflicts_with = "sources")]
    pub run: bool,
    /// How long the script may run.
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "TIME", requires = "run", default_value = "10s", value_parser = duration,
          allow_hyphen_values = true)]
    pub run_limit: Nanos,
}

/// `NAME=VALUE`.
fn variable(text: &str) -> Result<(String, String), String> {
    let is_name = |name: &str| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
    };
    match text.split_once('=') {
        Some((name, value)) if is_name(name) => Ok((name.into(), value.into())),
        _ => Err("write it as in UPLINK=9500".into()),
    }
}
