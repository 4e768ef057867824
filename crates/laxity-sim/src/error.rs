//! Errors of simulations: where the fault is, what it is, and what is accepted instead.

use std::fmt;
use std::io;
use std::path::PathBuf;

use laxity::units::{Bytes, Nanos};
use laxity_plan::model::SourceId;
use thiserror::Error;

use crate::source::links;

/// Why a source, a recording or a run cannot be had.
#[derive(Debug, Error)]
pub enum SimError {
    /// The system did not give a file, or stopped giving it.
    #[error("{}: {source}", .path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A source of the plan cannot send.
    #[error("source {} of the plan: {problem}", .id.index() + 1)]
    Source {
        /// The source.
        id: SourceId,
        /// The problem.
        problem: SourceProblem,
    },
    /// A file is no recording at all.
    #[error("{}: {problem}", .path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: RecordingProblem,
    },
    /// A line of an arrivals CSV.
    #[error("{}:{line}: {problem}", .path.display())]
    Csv {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The problem.
        problem: CsvProblem,
    },
    /// A frame of a capture.
    #[error("{}: frame {frame}: {problem}", .path.display())]
    Capture {
        /// The file.
        path: PathBuf,
        /// The frame's number in the file, from 1, as Wireshark counts.
        frame: u64,
        /// The problem.
        problem: CaptureProblem,
    },
    /// The caller has stopped it.
    #[error("the simulation was stopped")]
    Stopped,
    /// The simulated clock has no more room.
    #[error(
        "simulated time passed {}: shorten the duration, or let less arrive than the link can send",
        Nanos::LIMIT
    )]
    EndOfTime,
    /// Every class is measured at every output, and there are too many for the memory that takes.
    #[error(
        "{classes} classes at {outputs} outputs of links: classes times outputs are at most {most} \
         in a simulation; `laxity check` proves larger networks"
    )]
    TooManyBooks {
        /// The classes.
        classes: usize,
        /// The outputs.
        outputs: usize,
        /// The most that there may be of both together.
        most: usize,
    },
    /// A recording is too long to be held in memory as sorting needs.
    #[error(
        "the recording has more than {limit} packets, the most that are sorted: sort it beforehand, \
         for example with `reordercap in out`"
    )]
    TooLongToSort {
        /// The most packets that are held.
        limit: usize,
    },
    /// A recording is too long to be held in memory as fitting needs.
    #[error("the recording has more than {limit} packets: fit a shorter part of it")]
    TooLongToFit {
        /// The most packets that are held.
        limit: usize,
    },
}

impl SimError {
    /// Whether the user's input is at fault (the command's exit code 2) and not the system that
    /// refused something (exit code 3). A file that does not exist is a wrong name.
    pub fn is_bad_input(&self) -> bool {
        match self {
            SimError::System { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::NotFound
                    | io::ErrorKind::IsADirectory
                    | io::ErrorKind::NotADirectory
            ),
            _ => true,
        }
    }
}

/// Why a source of the plan cannot send.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SourceProblem {
    /// A distribution has impossible parameters.
    #[error("`{field}`: {source}")]
    Dist {
        /// The field of the source.
        field: &'static str,
        /// The problem of its distribution.
        source: laxity_plan::random::DistError,
    },
    /// Greedy, but nothing to keep to.
    #[error(
        "a greedy source keeps to its class's arrival curve: give class `{class}` an `arrival`"
    )]
    NoArrivalCurve {
        /// The class.
        class: String,
    },
    /// Greedy, but a bucket is too small for any packet.
    #[error("no packet fits into a token bucket of 0b: give class `{class}` a larger `bucket`")]
    EmptyBucket {
        /// The class.
        class: String,
    },
    /// A burst or an on period that is never longer than zero.
    #[error("`{field}` is always 0, so nothing is ever sent: give it a length")]
    NeverOn {
        /// The field of the source.
        field: &'static str,
    },
}

/// Why a file is no recording.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecordingProblem {
    /// No byte in it.
    #[error(
        "the file is empty: give a pcap or pcapng capture, or a CSV `time_ns,class,length[,flow]`"
    )]
    Empty,
    /// Something else.
    #[error(
        "this is {what}, not a recording: give a pcap or pcapng capture, or a CSV `time_ns,class,length[,flow]`"
    )]
    Foreign {
        /// What it looks like.
        what: &'static str,
    },
    /// A capture whose header breaks off or contradicts itself.
    #[error("the capture's header is {what}")]
    Header {
        /// How it is damaged.
        what: &'static str,
    },
    /// A class that takes packets by properties that only a host knows, of its own packets.
    #[error(
        "`match` of class `{0}` tests `mark`, `ct mark`, `priority` or `cgroup`, which are not in a capture: test what \
         is in its frames, or give a CSV `time_ns,class,length[,flow]`"
    )]
    HostMarks(String),
    /// `match` on a file without frames.
    #[error(
        "`match` chooses among a capture's frames; a CSV names the class of every packet: leave `match` out"
    )]
    FilterOnCsv,
    /// A capture in place of the sources of a network.
    #[error(
        "a capture does not say which path its frames take: give a CSV `time_ns,source,class,length[,flow]`, \
         or a [[source]] with `model = \"capture\"` and a `path`"
    )]
    NoSources,
}

/// The columns of an arrivals CSV, for one link or in place of the sources of a network.
fn headings(of_sources: bool) -> &'static str {
    if !of_sources {
        "`time_ns`, `class`, `length` and may name `flow` and `ecn`"
    } else {
        "`time_ns`, `source`, `class`, `length` and may name `flow` and `ecn`, where `source` is the number of the \
         [[source]] whose path a packet takes, from 1"
    }
}

/// A problem of a line of an arrivals CSV.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CsvProblem {
    /// A heading that is none of ours.
    #[error("column `{name}` is unknown: the header must name {}", headings(*of_sources))]
    UnknownColumn {
        /// The heading.
        name: String,
        /// Whether it stands for the sources of a network.
        of_sources: bool,
    },
    /// A heading that comes twice.
    #[error("column `{name}` appears twice")]
    RepeatedColumn {
        /// The heading.
        name: &'static str,
    },
    /// A heading that is missing.
    #[error("there is no column `{name}`: the header must name {}", headings(*of_sources))]
    MissingColumn {
        /// The heading.
        name: &'static str,
        /// Whether it stands for the sources of a network.
        of_sources: bool,
    },
    /// Not a source of the plan.
    #[error(
        "there is no source {number}: the plan's {sources} [[source]] tables are numbered from 1"
    )]
    UnknownSource {
        /// The number.
        number: u64,
        /// How many there are.
        sources: usize,
    },
    /// A class that is not the source's.
    #[error("source {number} sends packets of class `{own}`, not of `{class}`")]
    OtherClass {
        /// The source.
        number: u64,
        /// The class that was written.
        class: String,
        /// The source's.
        own: String,
    },
    /// A flow that the source does not have.
    #[error(
        "source {number} has no flow {flow}: by its `count` they are numbered from 0 to {last}"
    )]
    UnknownFlow {
        /// The flow.
        flow: u32,
        /// The source.
        number: u64,
        /// Its last flow.
        last: u32,
    },
    /// Too many or too few fields.
    #[error("{found} fields under {expected} columns")]
    FieldCount {
        /// How many there are.
        found: usize,
        /// How many the header has.
        expected: usize,
    },
    /// A field that is not a number of its range.
    #[error("`{text}` is not a {column}: write {accepted}")]
    Number {
        /// The column.
        column: &'static str,
        /// The field's text, shortened.
        text: String,
        /// What would have been accepted.
        accepted: &'static str,
    },
    /// Earlier than the line before.
    #[error(
        "time_ns {time} is before {previous} on the line before: sort the arrivals by time, or have \
         them sorted by `--sort`, or by `sort = true` in the plan's source"
    )]
    Unsorted {
        /// This line's time.
        time: i64,
        /// The line before's.
        previous: i64,
    },
    /// Not a class of the plan.
    #[error("the plan has no class `{name}`: its classes are {classes}")]
    UnknownClass {
        /// The field's text, shortened.
        name: String,
        /// The classes that there are.
        classes: String,
    },
    /// A class with classes below it.
    #[error("class `{class}` has classes below it and no packets of its own: name one of those")]
    NotALeaf {
        /// The class.
        class: String,
    },
    /// A length of zero, or over the class's limit.
    #[error(
        "length {length} of a packet of class `{class}` is out of range: from 1 to {limit} bytes are accepted, `packet` or the link's `max-packet` sets the limit"
    )]
    Length {
        /// The length.
        length: u64,
        /// The class.
        class: String,
        /// Its largest packet in bytes.
        limit: u64,
    },
    /// A line without end.
    #[error("the line is longer than {limit}")]
    TooLong {
        /// The longest line that is read.
        limit: Bytes,
    },
}

/// A problem of a frame of a capture.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CaptureProblem {
    /// The file ends inside it.
    #[error("the file ends in the middle of it, and no frame before it is whole: record anew")]
    Truncated,
    /// A length that no writer means.
    #[error(
        "it claims to hold {length} bytes, more than the {limit} of any capture: the file is damaged"
    )]
    Absurd {
        /// The claimed length.
        length: u64,
        /// The largest that is read.
        limit: u32,
    },
    /// Fields that contradict each other.
    #[error("{what}: the file is damaged")]
    Damaged {
        /// Which ones.
        what: &'static str,
    },
    /// A pcapng block without a stamp.
    #[error("it is a simple packet block, which has no time: record with times")]
    NoTime,
    /// A link type whose headers are not known here.
    #[error(
        "it was recorded on a link of type {link_type}{}: these are read: {}",
        links::named(*.link_type),
        links::read()
    )]
    LinkType {
        /// Its number among the LINKTYPE_ values.
        link_type: u32,
    },
    /// A frame without a byte.
    #[error("its original length is 0 bytes: the file is damaged")]
    Empty,
    /// A frame over its class's limit.
    #[error(
        "a frame of {length} bytes is over the {limit} bytes of class `{class}`: raise `packet` or the link's `max-packet`, or record with segmentation offload turned off (`ethtool -K IF tso off gso off gro off`)"
    )]
    TooLong {
        /// The frame's length.
        length: u32,
        /// The class's largest packet in bytes.
        limit: u64,
        /// The class.
        class: String,
    },
    /// A stamp earlier than frames are put in order for.
    #[error(
        "it is stamped {stamp}, and a frame before it {newest}, {back} later: frames are put in \
         order within {window} (and {held} packets), so the clock stepped back; if all times are right, have the \
         recording sorted by `--sort`, or by `sort = true` in the plan's source; if not, cut it \
         before this frame, for example with `editcap -r`",
        back = .newest.since(.stamp)
    )]
    StepBack {
        /// When the frame is stamped.
        stamp: Stamp,
        /// The latest stamp before it in the file.
        newest: Stamp,
        /// How far back frames are put in order.
        window: Nanos,
        /// How many are held for that at most.
        held: usize,
    },
    /// A stamp decades from the first.
    #[error("it is stamped more than {limit} s from the first frame: the file's times are damaged")]
    Time {
        /// The longest recording that is read, in seconds.
        limit: u64,
    },
}

/// The time of a frame, in ns since the epoch of its capture; it displays as seconds, as capture
/// tools print it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(pub i128);

impl Stamp {
    /// How much later it is than another one.
    fn since(self, earlier: &Stamp) -> Nanos {
        Nanos(u64::try_from(self.0 - earlier.0).unwrap_or(0))
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let nanos = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:09} s", nanos / 1_000_000_000, nanos % 1_000_000_000)
    }
}
