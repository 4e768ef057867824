//! Recordings: which kind of file is this?

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use laxity_plan::matching::Match;
use laxity_plan::model::Plan;

use super::Arrivals;
use super::capture::Capture;
use super::csv::CsvArrivals;
use super::frames::{pcap, pcapng};
use crate::error::{RecordingProblem, SimError};

/// The arrivals of a recording: a pcap or pcapng capture, told by its magic number, or an arrivals
/// CSV. Of a capture only frames that match `filter` take part.
///
/// # Errors
/// If the file cannot be read, is none of these, or its header is wrong.
pub fn open_recording(
    path: &Path,
    plan: &Plan,
    filter: Option<&Match>,
) -> Result<Box<dyn Arrivals>, SimError> {
    let file =
        File::open(path).map_err(|source| SimError::System { path: path.to_path_buf(), source })?;
    read_recording(file, path, plan, filter)
}

/// The same from any reader; `path` is what errors call it.
///
/// # Errors
/// If it cannot be read, is no recording, or its header is wrong.
pub fn read_recording<'a>(
    mut input: impl Read + 'a,
    path: &Path,
    plan: &Plan,
    filter: Option<&Match>,
) -> Result<Box<dyn Arrivals + 'a>, SimError> {
    let mut head = Vec::with_capacity(HEAD);
    input
        .by_ref()
        .take(HEAD as u64)
        .read_to_end(&mut head)
        .map_err(|source| SimError::System { path: path.to_path_buf(), source })?;
    let refuse = |problem| Err(SimError::Recording { path: path.to_path_buf(), problem });
    let kind = Kind::of(&head);
    let input = Cursor::new(head).chain(input);
    match kind {
        Kind::Pcap => Ok(Box::new(Capture::new(pcap::Reader::new(input, path)?, plan, filter))),
        Kind::PcapNg => Ok(Box::new(Capture::new(pcapng::Reader::new(input, path), plan, filter))),
        Kind::Text if filter.is_some() => refuse(RecordingProblem::FilterOnCsv),
        Kind::Text => Ok(Box::new(CsvArrivals::new(input, path, plan)?)),
        Kind::Empty => refuse(RecordingProblem::Empty),
        Kind::Other(what) => refuse(RecordingProblem::Foreign { what }),
    }
}

/// As many bytes as it takes to tell.
const HEAD: usize = 64;

enum Kind {
    Pcap,
    PcapNg,
    Text,
    Empty,
    Other(&'static str),
}

impl Kind {
    fn of(head: &[u8]) -> Kind {
        match head {
            [] => Kind::Empty,
            _ if pcap::Format::of(head).is_some() => Kind::Pcap,
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

/// Reads as much of `buffer` as there is left.
pub(super) fn read_full(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
