//! The pcap format (draft-ietf-opsawg-pcap): a header of 24 bytes, then frames, each behind a
//! header of 16. Versions before 2.4 are read as that one; before 2.3, and in part in it, the
//! length on the link stands before the one in the file, so that the smaller of the two is taken
//! for the latter.

use std::io::Read;
use std::path::Path;

use super::{ByteOrder, Frame, Frames, Input};
use crate::error::{CaptureProblem, SimError};

/// What the magic number says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    order: ByteOrder,
    /// What the stamps' second field counts, in ns.
    fraction: u32,
    /// Bytes of a frame's header.
    header: usize,
}

impl Format {
    /// The format of a file that begins with these bytes, if it is pcap.
    pub(crate) fn from_head(head: &[u8]) -> Option<Format> {
        let (order, fraction, header) = match head.first_chunk::<4>()? {
            [0xa1, 0xb2, 0xc3, 0xd4] => (ByteOrder::Big, 1_000, HEADER),
            [0xd4, 0xc3, 0xb2, 0xa1] => (ByteOrder::Little, 1_000, HEADER),
            [0xa1, 0xb2, 0x3c, 0x4d] => (ByteOrder::Big, 1, HEADER),
            [0x4d, 0x3c, 0xb2, 0xa1] => (ByteOrder::Little, 1, HEADER),
            // With the interface and the protocol of each frame, as some of Linux wrote it.
            [0xa1, 0xb2, 0xcd, 0x34] => (ByteOrder::Big, 1_000, HEADER + 8),
            [0x34, 0xcd, 0xb2, 0xa1] => (ByteOrder::Little, 1_000, HEADER + 8),
            _ => return None,
        };
        Some(Format { order, fraction, header })
    }
}

/// Bytes of a frame's header, and the most of them.
const HEADER: usize = 16;
const LONGEST_HEADER: usize = HEADER + 8;

/// Reads a pcap file.
pub(crate) struct Reader<R> {
    input: Input<R>,
    format: Format,
    link_type: u32,
    /// Whether a frame's two lengths may have changed places.
    is_old: bool,
    data: Vec<u8>,
}

impl<R: Read> Reader<R> {
    /// Reads the header.
    pub(crate) fn new(input: R, path: &Path) -> Result<Self, SimError> {
        let mut input = Input::new(input, path);
        let mut header = [0; 24];
        if input.read(&mut header)? < header.len() {
            return Err(input.refuse_header("cut off"));
        }
        let Some(format) = Format::from_head(&header) else {
            return Err(input.refuse_header("not one of pcap"));
        };
        let [_, _, _, _, major0, major1, minor0, minor1, .., a, b, c, d] = header;
        let version = [[major0, major1], [minor0, minor1]].map(|number| format.order.u16(number));
        // The upper bits say how long a frame check sequence is.
        let link_type = format.order.u32([a, b, c, d]) & 0x0fff_ffff;
        Ok(Reader { input, format, link_type, is_old: version < [2, 4], data: Vec::new() })
    }
}

impl<R: Read + Send> Frames for Reader<R> {
    fn next_frame(&mut self) -> Result<Option<Frame<'_>>, SimError> {
        let mut header = [0; LONGEST_HEADER];
        self.input.frame += 1;
        match self.input.read(&mut header[..self.format.header])? {
            0 => return Ok(None),
            read if read == self.format.header => {}
            _ => return Err(self.input.refuse(CaptureProblem::Truncated)),
        }
        let field = |at: usize| {
            let [a, b, c, d] = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            self.format.order.u32([a, b, c, d])
        };
        let (seconds, fraction, mut captured, mut original) =
            (field(0), field(4), field(8), field(12));
        if self.is_old && captured > original {
            (captured, original) = (original, captured);
        }
        self.input.check_lengths(captured, original)?;
        self.data.resize(captured as usize, 0);
        self.input.read_exact(&mut self.data)?;
        let nanos = i128::from(fraction) * i128::from(self.format.fraction);
        Ok(Some(Frame {
            time: i128::from(seconds) * 1_000_000_000 + nanos,
            link_type: self.link_type,
            length: original,
            data: &self.data,
        }))
    }

    fn refuse(&self, problem: CaptureProblem) -> SimError {
        self.input.refuse(problem)
    }
}
