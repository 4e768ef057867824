//! Frames that a kernel left to the interface to cut.

use laxity_forward::segment::{Offload, Segments};
use laxity_linux::frames::{Backend, Handle};

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

impl Cutter {
    /// What was lost since the start.
    pub fn lost(&self) -> Cut {
        self.lost
    }

    /// Calls `take` with what goes over the wire of a frame that arrived: the frame itself, or its
    /// parts as long as there is room for them. A frame that has to be cut is released. `backend`
    /// is where the caller has its backend.
    pub fn cut<C, B: Backend>(
        &mut self,
        caller: &mut C,
        backend: impl Fn(&mut C) -> &mut B,
        frame: Handle,
        mut take: impl FnMut(&mut C, Handle),
    ) {
        let frames = backend(caller);
        let offload = Offload::from_header(frames.pool().undone(frame).bytes());
        if !offload.cuts() {
            return take(caller, frame);
        }
        let Cutter { uncut, lost } = self;
        let (at, origin) = (frames.pool().port(frame), frames.pool().origin(frame));
        let arrived = frames.pool().arrived(frame);
        uncut.clear();
        uncut.extend_from_slice(frames.pool().bytes(frame));
        frames.release(frame);
        let Ok(segments) = Segments::new(uncut, &offload) else {
            lost.uncuttable += 1;
            return;
        };
        for number in 0..segments.count() {
            let pool = backend(caller).pool_mut();
            let Some(part) = pool.add(at, segments.longest()) else {
                lost.crowded_out += (segments.count() - number) as u64;
                return;
            };
            origin.iter().for_each(|origin| pool.set_origin(part, *origin));
            pool.set_arrived(part, arrived);
            let written = segments.write(number, pool.bytes_mut(part));
            let length = written.expect("the part has the room of the longest").len();
            pool.truncate(part, length);
            take(caller, part);
        }
    }
}
