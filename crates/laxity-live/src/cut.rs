//! Frames that a kernel left to the interface to cut.

use laxity_forward::segment::{Offload, Segments};
use laxity_linux::frames::{Backend, Handle, Port};

/// Cuts frames, keeps memory for that, and counts what is lost.
#[derive(Debug, Default)]
pub struct Cutter {
    /// The frame that is being cut.
    uncut: Vec<u8>,
    lost: Cut,
}

/// What was lost of frames that had to be cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Frames of a kind that cannot be cut.
    pub uncuttable: u64,
    /// Parts that found no room.
    pub crowded_out: u64,
}

/// What goes over the wire of a frame: the frame itself, or its parts.
pub enum Parts<'a> {
    /// The frame, unless it is lost or has been taken.
    Whole(Option<Handle>),
    /// The parts of a frame that arrived at `at`, from number `next`.
    Segments {
        /// The parts.
        segments: Segments<'a>,
        /// The first part that has not been taken.
        next: usize,
        /// Where the frame arrived.
        at: Port,
        /// Counts parts that find no room.
        lost: &'a mut Cut,
    },
}

impl Cutter {
    /// What was lost since the start.
    pub fn lost(&self) -> Cut {
        self.lost
    }

    /// The parts of a frame. One that has to be cut is released.
    pub fn parts(&mut self, backend: &mut impl Backend, handle: Handle) -> Parts<'_> {
        let offload = Offload::from_header(backend.pool().undone(handle).bytes());
        if !offload.cuts() {
            return Parts::Whole(Some(handle));
        }
        let Cutter { uncut, lost } = self;
        let at = backend.pool().port(handle);
        uncut.clear();
        uncut.extend_from_slice(backend.pool().bytes(handle));
        backend.release(handle);
        match Segments::new(uncut, &offload) {
            Ok(segments) => Parts::Segments { segments, next: 0, at, lost },
            Err(_) => {
                lost.uncuttable += 1;
                Parts::Whole(None)
            }
        }
    }
}

impl Parts<'_> {
    /// Takes the next part into the pool, until there are no more or there is no room.
    pub fn take(&mut self, backend: &mut impl Backend) -> Option<Handle> {
        let (segments, next, at, lost) = match self {
            Parts::Whole(handle) => return handle.take(),
            Parts::Segments { segments, next, at, lost } => (segments, next, *at, lost),
        };
        let number = *next;
        if number == segments.count() {
            return None;
        }
        let Some(part) = backend.pool_mut().add(at, segments.longest()) else {
            lost.crowded_out += (segments.count() - number) as u64;
            *next = segments.count();
            return None;
        };
        *next += 1;
        let length = segments.write(number, backend.pool_mut().bytes_mut(part));
        match length.map(|part| part.len()) {
            Some(length) => backend.pool_mut().truncate(part, length),
            None => unreachable!("the part has the room of the longest"),
        }
        Some(part)
    }
}
