//! The frames of a capture, one by one.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use super::frames::{Frame, Frames, pcap, pcapng};
use super::recording::{HEAD, Kind};
use crate::error::{CaptureProblem, RecordingProblem, SimError};

/// Reads the frames of a pcap or pcapng file, in the order of the file.
pub struct CaptureReader {
    frames: Box<dyn Frames>,
}

/// A frame of a capture.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CapturedFrame<'a> {
    /// In ns since the writer's epoch.
    pub time: i128,
    /// Whether it is an Ethernet frame.
    pub is_ethernet: bool,
    /// The number of bytes that it had on the link.
    pub length: u32,
    /// Its first bytes.
    pub data: &'a [u8],
}

impl CaptureReader {
    /// Opens a capture.
    ///
    /// # Errors
    /// If the file cannot be read or is no capture.
    pub fn open(path: &Path) -> Result<CaptureReader, SimError> {
        let failed = |source| SimError::System { path: path.to_path_buf(), source };
        let mut file = File::open(path).map_err(failed)?;
        let mut head = Vec::with_capacity(HEAD);
        file.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(failed)?;
        let refuse = |problem| Err(SimError::Recording { path: path.to_path_buf(), problem });
        let kind = Kind::from_head(&head);
        let input = Cursor::new(head).chain(file);
        let frames: Box<dyn Frames> = match kind {
            Kind::Pcap => Box::new(pcap::Reader::new(input, path)?),
            Kind::PcapNg => Box::new(pcapng::Reader::new(input, path)),
            Kind::Empty => return refuse(RecordingProblem::Empty),
            Kind::Text => return refuse(RecordingProblem::Foreign { what: "a text" }),
            Kind::Other(what) => return refuse(RecordingProblem::Foreign { what }),
        };
        Ok(CaptureReader { frames })
    }

    /// The next frame, or `None` at the end. A last frame that is not whole is left out.
    ///
    /// # Errors
    /// If the file cannot be read on.
    pub fn next_frame(&mut self) -> Result<Option<CapturedFrame<'_>>, SimError> {
        /// LINKTYPE_ETHERNET.
        const ETHERNET: u32 = 1;
        match self.frames.next_frame() {
            Ok(frame) => Ok(frame.map(|Frame { time, link_type, length, data }| CapturedFrame {
                time,
                is_ethernet: link_type == ETHERNET,
                length,
                data,
            })),
            Err(SimError::Capture { problem: CaptureProblem::Truncated, frame: 2.., .. }) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
