//! Frames for Wireshark, each with what became of it.

use std::io;
use std::path::{Path, PathBuf};

use laxity::units::Nanos;
use laxity_linux::clock::Clock;

use super::pcapng;
use super::spool::Spool;
use crate::process::Keeper;

/// Where frames are captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a frame comes and goes")]
pub enum CaptureAt {
    /// A frame that is sent where it leaves, when it does; one that is dropped where it arrived,
    /// when it was dropped.
    #[default]
    Departure,
    /// Every frame where it arrived, when it did. They are written when they leave or are dropped,
    /// so that they are not in the order of time.
    Arrival,
}

/// A capture to be made.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "what a capture is asked for")]
pub struct CaptureFile {
    /// The file.
    pub path: PathBuf,
    /// Where frames are captured.
    pub at: CaptureAt,
}

/// A pcapng file of the frames that were sent or dropped under a plan, each with a comment that
/// tells its class, delay and fate.
pub(crate) struct Capture {
    spool: Spool,
    pub(crate) at: CaptureAt,
    /// What is written next.
    blocks: Vec<u8>,
    /// How much later the time of day is than the time of events.
    ahead: Nanos,
    /// Frames that came too fast.
    missed: u64,
}

impl Capture {
    /// Begins a file of frames at interfaces of these names; where one of its name is there
    /// already, it gets a number. The time of events is `now`.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn create<'a>(
        file: &CaptureFile,
        interfaces: impl IntoIterator<Item = &'a str>,
        now: Nanos,
    ) -> io::Result<Self> {
        let spool = Spool::create("capture", &file.path)?;
        let ahead = Clock::Realtime.now().saturating_sub(now);
        let mut blocks = Vec::new();
        pcapng::begin(&mut blocks, interfaces);
        Ok(Capture { spool, at: file.at, blocks, ahead, missed: 0 })
    }

    /// The file's name.
    pub(crate) fn path(&self) -> &Path {
        self.spool.path()
    }

    /// Writes a frame that passed the interface of this number; `None` counts as missed.
    pub(crate) fn frame(
        &mut self,
        interface: usize,
        time: Nanos,
        frame: Option<&[u8]>,
        comment: &str,
    ) {
        match frame {
            Some(frame) if self.spool.is_open() => {
                let time = self.ahead.saturating_add(time);
                pcapng::packet(&mut self.blocks, interface as u32, time, frame, comment);
            }
            Some(_) => {}
            None => self.missed += 1,
        }
    }

    /// Hands what was written over to the disk.
    pub(crate) fn hand_over(&mut self, keeper: &mut dyn Keeper) {
        self.spool.hand_over(std::mem::take(&mut self.blocks), keeper);
    }

    /// Waits until all is written.
    pub(crate) fn finish(mut self, keeper: &mut dyn Keeper) {
        self.hand_over(keeper);
        if self.missed > 0 {
            let (missed, path) = (self.missed, self.path().display());
            keeper.say(&format!("{missed} frames came too fast for the capture {path}"));
        }
        self.spool.close(keeper);
    }
}
