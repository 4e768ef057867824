//! `laxity run` and `laxity compare` on the command line.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use laxity::units::Nanos;
use laxity_plan::Plan;

use super::value::{duration, whole};
use crate::input::Inputs;

/// Where traffic comes from and how long it lasts.
#[derive(Args, Debug)]
pub(crate) struct Traffic {
    /// How long sources send, such as 30s [default: the plan's, else 10s, else all of a recording].
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub duration: Option<Nanos>,
    /// The seed of every random draw [default: the plan's, else 1].
    #[arg(long, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Run with N seeds side by side, the first one and those after it, and print the mean of every
    /// figure with its 95 % confidence interval. --out then writes summary.json, with every seed's
    /// results, and report.html with the means, but no packets and no figures over time.
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = whole::<u64>(1..=10_000))]
    pub seeds: Option<u64>,
    /// Simulate a network on N threads, with the same result. Each thread simulates some of the
    /// nodes, and threads wait for each other once per delay of the fastest link between them. If
    /// no link is slow enough for that to pay, there is one thread.
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "seeds",
          value_parser = whole::<u32>(1..=256))]
    pub threads: Option<u32>,
    /// Take packets from this CSV, pcap or pcapng file instead of the plan's sources; - reads
    /// standard input.
    #[arg(long, value_name = "FILE")]
    pub arrivals: Option<PathBuf>,
    /// Sort what is recorded by time, where the clock stepped back. Without, captures are put in
    /// order within 100 ms, and an earlier frame, or an earlier line of a CSV, is refused.
    #[arg(long)]
    pub sort: bool,
}

/// `laxity run`.
#[derive(Args, Debug)]
#[command(after_help = "Example: laxity run examples/home-uplink.toml --out out/home-uplink")]
pub(crate) struct Run {
    /// The plan; - reads standard input.
    pub plan: PathBuf,
    /// Run this discipline instead of the plan's; see `laxity check --help`.
    #[arg(long, value_name = "KIND")]
    pub scheduler: Option<String>,
    #[command(flatten)]
    pub traffic: Traffic,
    /// Write summary.json, report.html, manifest.json and the packet file into this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The packet file that goes into the folder: one row for every packet.
    #[arg(long, value_name = "FORMAT", default_value = "csv", conflicts_with = "seeds")]
    pub packets: PacketFile,
    /// Write a trace of all packets into this file, to look at on ui.perfetto.dev: links with their
    /// transmissions, deadlines and drops, and what is queued. An earlier file is replaced.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seeds", "threads"])]
    pub trace: Option<PathBuf>,
    /// Print on standard error where the time of the simulation goes, by kind of event and by
    /// place; with --json it is also the field `profile`.
    #[arg(long, conflicts_with_all = ["seeds", "threads"])]
    pub profile: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

impl Run {
    /// The files that the command reads.
    pub(crate) fn inputs(&self, plan: &Plan) -> Inputs {
        Inputs::new(&self.plan, plan, self.traffic.arrivals.as_deref())
    }
}

/// Forms of a packet file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PacketFile {
    /// packets.csv
    Csv,
    /// packets.parquet
    Parquet,
    /// No packet file.
    None,
}

/// `laxity compare`.
#[derive(Args, Debug)]
#[command(after_help = "\
Exits with 1 when the plan's own scheduler, or edf, hfsc, dwcs or tdp, does not admit the plan or
breaks a promise, and when any breaks what was proved under it. The others are references: what
they miss is told and does not count.

Example: laxity compare examples/home-uplink.toml --schedulers fifo,wfq,edf")]
pub(crate) struct Compare {
    /// The plan; - reads standard input.
    pub plan: PathBuf,
    /// The disciplines; see `laxity check --help`.
    #[arg(long, value_name = "KIND", value_delimiter = ',', required = true)]
    pub schedulers: Vec<String>,
    #[command(flatten)]
    pub traffic: Traffic,
    /// Write summary.json (a list), report.html, delays.svg and manifest.json into this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

impl Compare {
    /// The files that the command reads.
    pub(crate) fn inputs(&self, plan: &Plan) -> Inputs {
        Inputs::new(&self.plan, plan, self.traffic.arrivals.as_deref())
    }
}
