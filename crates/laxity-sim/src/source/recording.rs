//! Recordings: which kind of file is this?

use std::fs::File;
use std::io::{Cursor, Read};

use laxity_plan::model::{Plan, Recording, Source, SourceId};

use super::arrival::{Arrivals, flows_of};
use super::capture::{Capture, FirstFlows, MOST_FLOWS};
use super::csv::CsvArrivals;
use super::frames::{pcap, pcapng};
use super::order::Sorter;
use crate::error::{RecordingProblem, SimError};

/// The arrivals of a recording: a pcap or pcapng capture, told by its magic number, or an arrivals
/// CSV. With a `source`, what that source of the plan sends, in a recording of them all: an
/// arrivals CSV with the column `source`.
///
/// # Errors
/// If the file cannot be read, is none of these, or its header is wrong.
pub fn open_recording(
    recording: &Recording,
    plan: &Plan,
    source: Option<SourceId>,
) -> Result<Box<dyn Arrivals>, SimError> {
    read_recording(open(recording)?, recording, plan, source)
}

/// The arrivals of a recording that is a source of the plan. If it is a capture, its flows are
/// numbered behind those of models and of the recordings before it.
///
/// # Errors
/// As [`open_recording`].
pub fn open_source(
    recording: &Recording,
    plan: &Plan,
    id: SourceId,
) -> Result<Box<dyn Arrivals>, SimError> {
    read(open(recording)?, recording, plan, None, first_flows(plan, id))
}

/// The numbers that are left for the flows of a capture that is a source of the plan.
fn first_flows(plan: &Plan, id: SourceId) -> FirstFlows {
    let is_recording = |source: &&Source| matches!(source, Source::Recording(_));
    let before = plan.sources[..id.index()].iter().filter(is_recording).count() as u32;
    let before = before.saturating_mul(MOST_FLOWS);
    let mut first: FirstFlows = plan.leaves().map(|(class, _)| (class, before)).collect();
    for (class, count) in plan.sources.iter().filter_map(flows_of) {
        let first = first.entry(class).or_default();
        *first = first.saturating_add(count);
    }
    first
}

fn open(recording: &Recording) -> Result<File, SimError> {
    let path = &recording.file;
    File::open(path).map_err(|source| SimError::System { path: path.clone(), source })
}

/// The arrivals of a recording that any reader has; the recording's file is its name in errors.
///
/// # Errors
/// If it cannot be read, is no recording, or its header is wrong.
pub fn read_recording<'a>(
    input: impl Read + Send + 'a,
    recording: &Recording,
    plan: &Plan,
    source: Option<SourceId>,
) -> Result<Box<dyn Arrivals + 'a>, SimError> {
    read(input, recording, plan, source, FirstFlows::new())
}

/// The same of a recording whose flows are numbered from these on, if it is a capture.
fn read<'a>(
    mut input: impl Read + Send + 'a,
    recording: &Recording,
    plan: &Plan,
    source: Option<SourceId>,
    first: FirstFlows,
) -> Result<Box<dyn Arrivals + 'a>, SimError> {
    let Recording { file: path, filter, sort, .. } = recording;
    let mut head = Vec::with_capacity(HEAD);
    input
        .by_ref()
        .take(HEAD as u64)
        .read_to_end(&mut head)
        .map_err(|source| SimError::System { path: path.clone(), source })?;
    let refuse = |problem| Err(SimError::Recording { path: path.clone(), problem });
    let kind = Kind::from_head(&head);
    let input = Cursor::new(head).chain(input);
    if let (Kind::Pcap | Kind::PcapNg, Some(class)) = (&kind, plan.host_class()) {
        return refuse(RecordingProblem::HostMarks(class.name.clone()));
    }
    match kind {
        Kind::Pcap | Kind::PcapNg if source.is_some() => refuse(RecordingProblem::NoSources),
        Kind::Pcap => {
            let frames = pcap::Reader::new(input, path)?;
            Ok(Box::new(Sorter::new(Capture::new(frames, plan, filter.as_ref(), first), *sort)))
        }
        Kind::PcapNg => {
            let frames = pcapng::Reader::new(input, path);
            Ok(Box::new(Sorter::new(Capture::new(frames, plan, filter.as_ref(), first), *sort)))
        }
        Kind::Text if filter.is_some() => refuse(RecordingProblem::FilterOnCsv),
        Kind::Text => {
            let arrivals = CsvArrivals::new(source, input, path, plan)?;
            Ok(Box::new(Sorter::new(arrivals, *sort)))
        }
        Kind::Empty => refuse(RecordingProblem::Empty),
        Kind::Other(what) => refuse(RecordingProblem::Foreign { what }),
    }
}

/// As many bytes as it takes to tell.
pub(super) const HEAD: usize = 64;

pub(super) enum Kind {
    Pcap,
    PcapNg,
    Text,
    Empty,
    Other(&'static str),
}

impl Kind {
    pub(super) fn from_head(head: &[u8]) -> Kind {
        match head {
            [] => Kind::Empty,
            _ if pcap::Format::from_head(head).is_some() => Kind::Pcap,
            [0x0a, 0x0d, 0x0d, 0x0a, ..] => Kind::PcapNg,
            [0x1f, 0x8b, ..] => Kind::Other("a gzip file (unpack it first)"),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Kind::Other("a Zstandard file (unpack it first)"),
            [0xfd, b'7', b'z', b'X', b'Z', ..] => Kind::Other("an xz file (unpack it first)"),
            [b'P', b'K', 3, 4, ..] => Kind::Other("a zip file (unpack it first)"),
            [b'P', b'A', b'R', b'1', ..] => Kind::Other("a Parquet file"),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Kind::Other("UTF-16 text (save it as UTF-8)"),
            _ if head.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace()) => {
                Kind::Other("a binary file")
            }
            _ => Kind::Text,
        }
    }
}
