//! The pcap format (draft-ietf-opsawg-pcap): a header of 24 bytes, then frames, each behind a
//! header of 16.

use std::io::Read;
use std::path::Path;

use super::{ByteOrder, Frame, Frames, Input};
use crate::error::{CaptureProblem, SimError};

/// What the magic number says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    order: ByteOrder,
    /// What the stamps' second field counts, in ns.
    fraction: u32,
}

impl Format {
    /// The format of a file that begins with these bytes, if it is pcap.
    pub fn of(head: &[u8]) -> Option<Format> {
        let (order, fraction) = match head.first_chunk::<4>()? {
            [0xa1, 0xb2, 0xc3, 0xd4] => (ByteOrder::Big, 1_000),
            [0xd4, 0xc3, 0xb2, 0xa1] => (ByteOrder::Little, 1_000),
            [0xa1, 0xb2, 0x3c, 0x4d] => (ByteOrder::Big, 1),
            [0x4d, 0x3c, 0xb2, 0xa1] => (ByteOrder::Little, 1),
            _ => return None,
        };
        Some(Format { order, fraction })
    }
}

/// Reads a pcap file.
pub struct Reader<R> {
    input: Input<R>,
    format: Format,
    link_type: u32,
    data: Vec<u8>,
}

impl<R: Read> Reader<R> {
    /// Reads the header.
    pub fn new(input: R, path: &Path) -> Result<Self, SimError> {
        let mut input = Input::new(input, path);
        let mut header = [0; 24];
        if input.read(&mut header)? < header.len() {
            return Err(input.refuse_header("cut off"));
        }
        let Some(format) = Format::of(&header) else {
            return Err(input.refuse_header("not one of pcap"));
        };
        let [.., a, b, c, d] = header;
        // The upper bits say how long a frame check sequence is.
        let link_type = format.order.u32([a, b, c, d]) & 0x0fff_ffff;
        Ok(Reader { input, format, link_type, data: Vec::new() })
    }
}

impl<R: Read + Send> Frames for Reader<R> {
    fn next_frame(&mut self) -> Result<Option<Frame<'_>>, SimError> {
        let mut header = [0; 16];
        self.input.frame += 1;
        match self.input.read(&mut header)? {
            0 => return Ok(None),
            16 => {}
            _ => return Err(self.input.refuse(CaptureProblem::Truncated)),
        }
        let field = |at: usize| {
            let [a, b, c, d] = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            self.format.order.u32([a, b, c, d])
        };
        let (seconds, fraction, captured, original) = (field(0), field(4), field(8), field(12));
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
