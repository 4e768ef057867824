//! The command line.

#[cfg(target_os = "linux")]
mod apply;
#[cfg(target_os = "linux")]
mod demo;
mod exchange;
mod linux;
#[cfg(target_os = "linux")]
mod sight;
mod sweep;
mod tune;
#[cfg(target_os = "linux")]
mod watch;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use laxity::units::{Nanos, Rate, UnitError};
#[cfg(target_os = "linux")]
use laxity_live::routers::PortName;
use laxity_plan::Plan;

use crate::input::Inputs;

#[cfg(target_os = "linux")]
pub(crate) use apply::Apply;
#[cfg(target_os = "linux")]
pub(crate) use demo::Demo;
pub(crate) use exchange::{ExportNetwork, ExportTsnkit, ImportNetwork, ImportTsnkit};
pub(crate) use linux::{ExportTc, ExportTo, Kernel, Target};
#[cfg(target_os = "linux")]
pub(crate) use sight::{Asked, Reload, Seen, Status, Top};
pub(crate) use sweep::Sweep;
pub(crate) use tune::Tune;
#[cfg(target_os = "linux")]
pub(crate) use watch::Watch;

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
  3  the system refused (permission, disk)";

/// One thing to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Prove a plan: does it fit, and what delay has each class?
    Check(Check),
    /// Simulate a plan and print what each class got beside what it was promised.
    Run(Run),
    /// Run the same arrivals through several schedulers, side by side.
    Compare(Compare),
    /// Run a plan with many values and seeds, into a store of tables.
    Sweep(Sweep),
    /// Find the smallest link, the shortest deadlines, weights that keep goals.
    Tune(Tune),
    /// Forward the frames between two interfaces under a plan.
    #[cfg(target_os = "linux")]
    Live(Live),
    /// Give a plan to the kernel's own disciplines at an interface.
    #[cfg(target_os = "linux")]
    Apply(Apply),
    /// Print what a link is like that `live`, `watch` or `apply` is at.
    #[cfg(target_os = "linux")]
    Status(Status),
    /// Have `live` read its plans again and follow them.
    #[cfg(target_os = "linux")]
    Reload(Reload),
    /// Watch classes on a link: rates, queues, delays beside bounds.
    #[cfg(target_os = "linux")]
    Top(Top),
    /// Measure any shaper from outside, beside a plan's bounds.
    #[cfg(target_os = "linux")]
    Watch(Watch),
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

/// The disciplines that a plan can be checked and run under.
fn schedulers_help() -> String {
    format!("Check this discipline instead of the plan's: {}", laxity_plan::discipline::accepted())
}

/// What `laxity bench` measures.
fn bench_help() -> String {
    format!("Measure this alone: {}", crate::commands::bench::accepted())
}

/// `laxity check`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples: laxity check examples/home-uplink.toml
          laxity check examples/gateway.toml --for linux --offload off
          laxity check examples/two-hops.toml --worst-case --out out/worst

With --worst-case it looks for the longest delay of each class along each of its paths, under traffic that
keeps to every `arrival`, and prints it beside the bound: how much the bound may be too long at most. What
--out writes can be run: laxity run PLAN --arrivals out/worst/CLASS.csv")]
pub(crate) struct Check {
    /// The plan; - reads standard input.
    pub plan: PathBuf,
    /// Check this discipline instead of the plan's.
    #[arg(long, value_name = "KIND", help = schedulers_help())]
    pub scheduler: Option<String>,
    /// For tdp: leave out as few flows as can be, by an exact solver.
    #[arg(long)]
    pub exact: bool,
    /// Prove the plan as it is carried out there: `linux` is the kernel's own disciplines, as
    /// `laxity export tc` sets them up, with their rounding, timers and offloads counted.
    #[arg(long = "for", value_name = "SYSTEM", conflicts_with = "exact")]
    pub target: Option<Target>,
    #[command(flatten)]
    pub kernel: Kernel,
    /// For networks: find what each part could be with everything else as it is. The smallest rate
    /// of each link, the largest burst and the shortest deadlines of each class, and what breaks
    /// first as load grows.
    #[arg(long, conflicts_with = "target")]
    pub limits: bool,
    /// Search for traffic that delays each class longest, and print how long that is.
    #[arg(long, conflicts_with = "target")]
    pub worst_case: bool,
    /// How many packets are sent in the search, for each class along each path.
    #[arg(long, value_name = "N", requires = "worst_case", default_value_t = laxity_api::DEFAULT_PACKETS,
          value_parser = whole::<u64>(1_000..=u64::MAX))]
    pub packets: u64,
    /// What the search draws from.
    #[arg(long, value_name = "S", requires = "worst_case", default_value_t = 1)]
    pub seed: u64,
    /// Write what was found here: report.html, and the packets of each class and path as a CSV.
    #[arg(long, value_name = "DIR", requires = "worst_case")]
    pub out: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Where traffic comes from and how long it lasts.
#[derive(Args, Debug)]
pub(crate) struct Traffic {
    /// How long sources send, such as 30s [default: the plan's, else 10s, else all of a recording].
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub duration: Option<Nanos>,
    /// The seed of every random draw [default: the plan's, else 1].
    #[arg(long, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Run with so many seeds, from that one on, side by side, and print of every figure the mean
    /// and its 95 % confidence interval. --out then writes summary.json, with every seed's results,
    /// and report.html with the means, but no packets and no figures over time.
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = whole::<u64>(1..=10_000))]
    pub seeds: Option<u64>,
    /// Simulate a network on so many threads, to the same result. They share its nodes, and meet as
    /// often as the fastest link between two of them takes; with no such link worth it there is one
    /// thread.
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
    /// Tell where the time of simulating goes, by what happens and where, on standard error, and
    /// with --json as `profile` there.
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

/// `laxity live`.
#[cfg(target_os = "linux")]
#[derive(Args, Debug)]
#[command(after_help = "\
Examples: laxity live --demo
          laxity live examples/home-uplink.toml --in eth1 --out eth0
          laxity live examples/live-ring.toml --port r1:h1=eth0 --port r1:r2=eth1 --port r1:r4=eth2

The interfaces are bridged: frames of any kind go both ways, and those that arrive at --in are sent at
--out under the plan. The kernel's own stack sees them too, so the interfaces should have no addresses.
SIGHUP has the plans read again, without losing a packet; SIGTERM and SIGINT send what is queued and
end. Opening needs CAP_NET_RAW, being on time CAP_SYS_NICE; all privileges are given up then.

With --port, nodes of the plan's network are run here, as many as have ports, in the time frames of
CLOCK_TAI if the plan's scheduler is tdp. SIGHUP then has the plan followed if only what a router decides
alone differs: how packets are policed, queued and ordered; other plans are refused, and the old one goes on.")]
pub(crate) struct Live {
    /// The plan of what is sent at --out, or of a network.
    #[arg(required_unless_present = "demo")]
    pub plan: Option<PathBuf>,
    /// Where the frames arrive that the plan is for.
    #[arg(long = "in", value_name = "INTERFACE", required_unless_present_any = ["port", "demo"])]
    pub from: Option<String>,
    /// Where they leave: the interface before the link.
    #[arg(long = "out", value_name = "INTERFACE", required_unless_present_any = ["port", "demo"])]
    pub to: Option<String>,
    /// A plan for the way back. Without one frames go as they come.
    #[arg(long, value_name = "PLAN")]
    pub back: Option<PathBuf>,
    /// In a network: the interface at which a node's link to a neighbour is; one for every link of
    /// the node.
    #[arg(long, value_name = "NODE:NEIGHBOUR=INTERFACE[@NAMESPACE]", conflicts_with_all = ["from", "to", "back"])]
    pub port: Vec<PortName>,
    /// How frames are taken in and sent.
    #[arg(long, value_name = "BACKEND", default_value = "ring")]
    pub backend: FrameBackend,
    /// The real-time priority of the thread that forwards; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = whole::<u8>(0..=99))]
    pub priority: u8,
    /// Keep that thread on this core; best the one that takes the interfaces' interrupts.
    #[arg(long, value_name = "N")]
    pub core: Option<usize>,
    /// Keep all cores of the machine awake: frames are sent some 30 us sooner, and it takes
    /// electricity.
    #[arg(long)]
    pub awake: bool,
    /// End after this time, such as 60s.
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub duration: Option<Nanos>,
    /// Write down everything that happens on a link into a file in this folder, for
    /// `laxity replay`.
    #[arg(long, value_name = "DIR")]
    pub ledger: Option<PathBuf>,
    /// Write the frames of the ways that have a plan, or of all ports of routers, into this pcapng
    /// file, each with its class and delay as a comment, for Wireshark. A file of this name that is there already is kept: the
    /// new one gets a number, as in frames-2.pcapng.
    #[arg(long, value_name = "FILE")]
    pub capture: Option<PathBuf>,
    #[command(flatten)]
    pub seen: Seen,
    #[command(flatten)]
    pub demo: Demo,
}

/// `laxity replay`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: laxity replay out/out-1764000000.ledger

The simulator is given what arrived, how late the link chose what to send, and the plans. It comes to the
same dispatches and drops, every one, or the first that differs is shown.")]
pub(crate) struct Replay {
    /// A ledger that `laxity live --ledger` wrote.
    pub ledger: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// How frames are taken in and sent.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FrameBackend {
    /// AF_PACKET sockets with a receive ring: any interface, any frame.
    Ring,
    /// AF_PACKET sockets without one.
    Packet,
    /// AF_XDP sockets: the fastest; who sends to the interfaces must have offloads off.
    Xdp,
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

/// `laxity fit`.
#[derive(Args, Debug)]
#[command(after_help = "\
Prints for each class the `arrival = …` line that all its recorded packets keep to. With --write these
lines go into the plan, whose other lines stay as they are, and what changes is printed.

Example: laxity fit examples/home-uplink.toml")]
pub(crate) struct Fit {
    /// The plan, whose classes' `match` tells the packets apart; - reads standard input.
    pub plan: PathBuf,
    /// The recording; - reads standard input [default: the plan's source].
    #[arg(long, value_name = "FILE")]
    pub arrivals: Option<PathBuf>,
    /// Sort what is recorded by time; see `laxity run --help`.
    #[arg(long)]
    pub sort: bool,
    /// Put the fitted curves into the plan file, as the `arrival` of classes that have packets.
    #[arg(long)]
    pub write: bool,
    /// How far the fitted rate lies above the recorded mean, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = laxity_sim::fit::DEFAULT_HEADROOM_PERCENT,
          value_parser = whole::<u32>(0..=10_000))]
    pub headroom: u32,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

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
    /// From what an interface has under Linux, by netlink: exact, where `tc` shows some digits.
    #[cfg(target_os = "linux")]
    Kernel(ImportKernel),
}

/// `laxity import kernel`.
#[cfg(target_os = "linux")]
#[derive(Args, Debug)]
#[command(after_help = "\
Of a plan that laxity apply gave to the interface come back, with its bounds, the names and contracts as well, for
which the kernel has no place. The interface stays as it is.

Example: laxity import kernel --dev eth0 --out plan.toml")]
pub(crate) struct ImportKernel {
    /// The interface.
    #[arg(long, value_name = "IF")]
    pub dev: String,
    /// Write the plan into this file, which must not be there yet [default: standard output].
    #[arg(long, value_name = "PLAN")]
    pub out: Option<PathBuf>,
    /// The rate of the link, such as 10mbit [default: that of its token bucket, or of the one class
    /// at the top].
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub link_rate: Option<Rate>,
}

/// `laxity import tc`.
#[derive(Args, Debug)]
#[command(after_help = "\
What the plan says in another way, or not at all, is listed on standard error and at the head of the
plan. Nothing in the script is run.

With --run the script's own shell runs it, in a sandbox in which it can change nothing and reach
nobody. tc, ip, ifconfig, ethtool, sysctl, modprobe, iptables, nft and their like only write down
what they are told, and that is imported. Asked to show something, they show nothing.

Examples: laxity import tc examples/gateway.tc --out plan.toml
          laxity import tc shaper.sh --arg start --set UPLINK=9500
          laxity import tc --run shaper.sh start
          laxity import tc --run --set UPLINK=9500 --out plan.toml -- ./shaper.sh -v start
          (tc -s -d qdisc show dev eth0; tc class show dev eth0; tc filter show dev eth0) | laxity import tc -")]
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

/// `laxity reproduce`.
#[derive(Args, Debug)]
#[command(after_help = "Example: laxity reproduce low-delay-best-effort --out out/paper")]
pub(crate) struct Reproduce {
    /// The paper [default: all of them].
    pub paper: Option<String>,
    /// How many seeds, from 1 on.
    #[arg(long, default_value_t = 5, value_parser = whole::<u64>(1..=1000))]
    pub seeds: u64,
    /// Simulate less than the paper did, for a quick look.
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub duration: Option<Nanos>,
    /// Write the figures into this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `laxity bench`.
#[derive(Args, Debug)]
#[command(after_help = "\
Each figure is the median over several runs of the time for one packet in and one packet out.
  backlogged  every class always has packets waiting
  on-off      classes run empty and wake again
  single      one packet at a time
  together    all classes wake at one instant with a packet each, and sleep when all are sent
Of dwcs each class is a stream; with dwcs/late the link carries half of them, so that half of the
packets are dropped for being late, and the time is that for each packet sent or dropped.
Of tdp each class is a flow with a packet a cycle, in frames of 12 packets, all reserved.

Example: laxity bench --only edf --classes 1000")]
pub(crate) struct Bench {
    /// Measure this alone.
    #[arg(long, value_name = "DISCIPLINE", help = bench_help())]
    pub only: Option<String>,
    /// Measure with so many classes alone.
    #[arg(long, value_parser = whole::<u32>(1..=10_000_000))]
    pub classes: Option<u32>,
    /// What is sent.
    #[arg(long, value_enum, default_value_t = Load::Uniform)]
    pub load: Load,
    /// Measure the longest operation instead, in instructions, as all classes wake at one instant.
    /// Linux alone.
    ///
    /// Every class has two packets or four when time jumps by an hour, and what follows is watched
    /// step by step: one packet out and one in, 100 times.
    #[arg(long, conflicts_with = "load")]
    pub longest: bool,
    /// Be the process that --longest watches.
    #[arg(long, hide = true, requires_all = ["only", "classes"])]
    pub watched: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// What `laxity bench` sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Load {
    /// Packets of 1000 bytes, which take a microsecond each.
    Uniform,
    /// Lengths from 64 to 1500 bytes, weights from 1 to 16, time that moves by what is sent, as
    /// peers are measured.
    Natural,
    /// The same, as all classes wake at one instant, each packet told to whoever watches.
    #[value(skip)]
    Watched,
}

/// A whole number between two others.
fn whole<T>(within: RangeInclusive<u64>) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: TryFrom<u64> + 'static,
{
    move |text| {
        let number = text.parse().ok().filter(|number| within.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match within.end() {
            &u64::MAX => format!("accepted are whole numbers from {} on", within.start()),
            end => format!("accepted are whole numbers from {} to {end}", within.start()),
        })
    }
}

/// How long to simulate. Negative times come here as well, to be told that they are.
fn duration(text: &str) -> Result<Nanos, String> {
    match text.parse() {
        Ok(Nanos::ZERO) => Err("a duration of zero is nothing at all: give more".into()),
        read => read.map_err(|error: UnitError| error.to_string()),
    }
}

/// `laxity schema`.
#[derive(Args, Debug)]
pub(crate) struct Schema {
    /// Print JSON, as this command always does.
    #[arg(long)]
    pub json: bool,
}
