//! `laxity bench` on the command line.

mod case;

use clap::{Args, ValueEnum};

use super::value::whole;

pub(crate) use case::Case;

/// `laxity bench`.
#[derive(Args, Debug)]
#[command(after_help = "\
Each figure is the median over several runs of the time for one packet in and one packet out.
  backlogged  every class always has packets waiting
  on-off      classes run empty and wake again
  single      one packet at a time
  together    all classes wake at one instant with a packet each, and sleep when all are sent
  overload    five packets are offered for every four that are sent
  flood       fifty packets are offered for every four that are sent

Example: laxity bench --only edf --classes 1000
Guide:   docs/speed.md")]
pub(crate) struct Bench {
    /// Measure this alone.
    #[arg(long, value_name = "DISCIPLINE", help = bench_help())]
    pub only: Option<String>,
    /// Measure only with this number of classes.
    #[arg(long, value_parser = whole::<u32>(1..=10_000_000))]
    pub classes: Option<u32>,
    /// What is sent.
    #[arg(long, value_enum, default_value_t = Load::Uniform)]
    pub load: Load,
    /// Call disciplines by pointer, as the kernel calls its own, instead of compiling them into the
    /// load.
    #[arg(long, conflicts_with = "longest")]
    pub by_pointer: bool,
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
    /// Lengths from 64 to 1500 bytes, weights from 1 to 16, and time that advances by the length of
    /// each packet sent, as peers are measured.
    Natural,
    /// As `Natural`, with all classes waking at one instant, and each packet reported to the
    /// watching process.
    #[value(skip)]
    Watched,
}

/// Help that names what can be measured.
fn bench_help() -> String {
    format!("Measure this alone: {}", case::accepted())
}
