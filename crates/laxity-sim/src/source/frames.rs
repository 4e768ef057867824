//! The frames of captures. The framing is read here and not by a library because a recording is
//! outside input that may be damaged, and because original lengths, stamps of any resolution and
//! bounded memory matter.

pub(super) mod pcap;
pub(super) mod pcapng;

use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::error::{CaptureProblem, RecordingProblem, SimError};

/// The most bytes of one frame that a capture holds: libpcap's limit.
const MOST_CAPTURED: u32 = 262_144;

/// A frame as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    /// In ns since the writer's epoch.
    pub time: i128,
    /// Among the LINKTYPE_ values.
    pub link_type: u32,
    /// How long it was on the link, in bytes.
    pub length: u32,
    /// Its first bytes.
    pub data: &'a [u8],
}

/// A capture's frames, in the order of the file.
pub(super) trait Frames: Send {
    /// The next frame, or `None` at the end.
    fn next_frame(&mut self) -> Result<Option<Frame<'_>>, SimError>;

    /// An error in the frame that was read last.
    fn refuse(&self, problem: CaptureProblem) -> SimError;
}

/// In which order the bytes of a number come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Big,
    Little,
}

impl ByteOrder {
    fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            ByteOrder::Big => u16::from_be_bytes(bytes),
            ByteOrder::Little => u16::from_le_bytes(bytes),
        }
    }

    fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            ByteOrder::Big => u32::from_be_bytes(bytes),
            ByteOrder::Little => u32::from_le_bytes(bytes),
        }
    }

    /// The number that begins at `at`.
    fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        Some(self.u32(*bytes.get(at..)?.first_chunk()?))
    }

    fn u16_at(self, bytes: &[u8], at: usize) -> Option<u16> {
        Some(self.u16(*bytes.get(at..)?.first_chunk()?))
    }
}

/// A capture that is read from its beginning to its end.
struct Input<R> {
    input: BufReader<R>,
    path: PathBuf,
    /// Frames read, or begun to be read.
    frame: u64,
}

impl<R: Read> Input<R> {
    fn new(input: R, path: &Path) -> Self {
        Input { input: BufReader::with_capacity(1 << 18, input), path: path.into(), frame: 0 }
    }

    /// Reads as much of `buffer` as there is left.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, SimError> {
        read_full(&mut self.input, buffer).map_err(|error| self.failed(error))
    }

    /// Fills `buffer`.
    fn read_exact(&mut self, buffer: &mut [u8]) -> Result<(), SimError> {
        if self.read(buffer)? < buffer.len() {
            return Err(self.refuse(CaptureProblem::Truncated));
        }
        Ok(())
    }

    /// Reads over `count` bytes.
    fn skip(&mut self, count: u64) -> Result<(), SimError> {
        let mut rest = (&mut self.input).take(count);
        let skipped = io::copy(&mut rest, &mut io::sink());
        match skipped.map_err(|error| self.failed(error))? {
            skipped if skipped < count => Err(self.refuse(CaptureProblem::Truncated)),
            _ => Ok(()),
        }
    }

    fn failed(&self, source: io::Error) -> SimError {
        SimError::System { path: self.path.clone(), source }
    }

    fn refuse(&self, problem: CaptureProblem) -> SimError {
        SimError::Capture { path: self.path.clone(), frame: self.frame, problem }
    }

    fn refuse_header(&self, what: &'static str) -> SimError {
        let problem = RecordingProblem::Header { what };
        SimError::Recording { path: self.path.clone(), problem }
    }

    /// Refuses lengths that no capture has: `captured` in the file, `original` on the link.
    fn check_lengths(&self, captured: u32, original: u32) -> Result<(), SimError> {
        if captured > MOST_CAPTURED {
            let length = u64::from(captured);
            return Err(self.refuse(CaptureProblem::Absurd { length, limit: MOST_CAPTURED }));
        }
        if captured > original {
            let what = "it holds more bytes than its original length";
            return Err(self.refuse(CaptureProblem::Damaged { what }));
        }
        Ok(())
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
