//! Frames that a kernel left to the interface to cut.

use laxity_forward::segment::{Offload, Segments};
use laxity_linux::frames::{Backend, Handle};

/// Cuts frames, keeps memory for that, and counts what came to nothing.
#[derive(Debug, Default)]
pub struct Cutter {
    /// A frame that is cut.
    uncut: Vec<u8>,
    lost: Cut,
}

/// What was lost of frames that had to be cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Frames of a kind that cannot be.
    pub uncuttable: u64,
    /// Parts that there was no room for.
    pub crowded_out: u64,
}

impl Cutter {
    /// What was lost since the start.
    pub fn lost(&self) -> Cut {
        self.lost
    }

    /// What goes over the wire of a frame that is held: itself, or its parts in its place.
    pub fn cut<B: Backend>(
        &mut self,
        backend: &mut B,
        handle: Handle,
        mut each: impl FnMut(&mut B, Handle),
    ) {
        let offload = Offload::of_header(backend.pool().undone(handle).bytes());
        if !offload.cuts() {
            return each(backend, handle);
        }
        let Cutter { uncut, lost } = self;
        let at = backend.pool().port(handle);
        uncut.clear();
        uncut.extend_from_slice(backend.pool().bytes(handle));
        backend.release(handle);
        let Ok(segments) = Segments::of(uncut, &offload) else {
            lost.uncuttable += 1;
            return;
        };
        for number in 0..segments.count() {
            let Some(part) = backend.pool_mut().add(at, segments.longest()) else {
                lost.crowded_out += (segments.count() - number) as u64;
                break;
            };
            let length = segments.write(number, backend.pool_mut().bytes_mut(part));
            match length.map(|part| part.len()) {
                Some(length) => backend.pool_mut().truncate(part, length),
                None => unreachable!("the part has the room of the longest"),
            }
            each(backend, part);
        }
    }
}
