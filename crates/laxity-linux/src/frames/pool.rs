//! Memory for frames that wait.

use laxity::units::Nanos;

use super::{Side, Undone};
use crate::error::{Doing, Error};
use crate::sys::Mapping;

/// A frame's place in its pool. It is good from when the frame is received until it is sent or
/// released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle(pub u32);

/// Who may touch a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// Nobody.
    Free,
    /// The backend, and where it shares memory with the kernel, the kernel.
    Backend,
    /// Whoever has its handle.
    Holder,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    owner: Owner,
    /// Where the frame begins within the place.
    start: u32,
    length: u32,
    undone: Undone,
    arrived: Nanos,
}

/// Equal places for frames, one half for those that arrive at each side. Places that were used last
/// are used next, so that memory which has never been needed takes no room.
#[derive(Debug)]
pub struct Pool {
    memory: Mapping,
    stride: usize,
    places: Vec<Place>,
    /// By the side at which they arrive.
    free: [Vec<u32>; 2],
}

/// Room before a frame that is made here, for what a backend puts there.
const HEADROOM: usize = 256;

impl Pool {
    /// The most frames for each side.
    pub const LIMIT: u32 = 1 << 20;

    /// How long the two addresses are with which a frame begins; a VLAN tag comes behind them.
    pub(crate) const ADDRESSES: usize = 12;

    /// `each` places of `stride` bytes for each side.
    pub(crate) fn new(each: u32, stride: usize) -> Result<Self, Error> {
        let each = each.clamp(1, Self::LIMIT);
        let memory = Mapping::memory(2 * each as usize * stride);
        let empty = Place {
            owner: Owner::Free,
            start: 0,
            length: 0,
            undone: Undone::default(),
            arrived: Nanos(0),
        };
        Ok(Pool {
            memory: memory.doing(format!("get memory for {each} frames in each direction"))?,
            stride,
            places: vec![empty; 2 * each as usize],
            free: [(0..each).rev().collect(), (each..2 * each).rev().collect()],
        })
    }

    /// The frame.
    ///
    /// # Panics
    /// If it is not held.
    pub fn bytes(&self, frame: Handle) -> &[u8] {
        let (place, first) = self.held(frame);
        // SAFETY: the bytes lie within the mapping, whoever holds a frame is the only one to touch
        // it, and to take that away needs `&mut self`.
        unsafe { std::slice::from_raw_parts(first, place.length as usize) }
    }

    /// The same, to change it.
    ///
    /// # Panics
    /// If it is not held.
    pub fn bytes_mut(&mut self, frame: Handle) -> &mut [u8] {
        let (place, first) = self.held(frame);
        // SAFETY: as for `bytes`, and `&mut self` keeps everyone else away.
        unsafe { std::slice::from_raw_parts_mut(first, place.length as usize) }
    }

    /// What is left to do on the frame.
    ///
    /// # Panics
    /// If it is not held.
    pub fn undone(&self, frame: Handle) -> Undone {
        self.held(frame).0.undone
    }

    /// When the kernel took the frame in, on [`Clock::Realtime`](crate::clock::Clock::Realtime),
    /// where it says so.
    ///
    /// # Panics
    /// If it is not held.
    pub fn arrived(&self, frame: Handle) -> Option<Nanos> {
        Some(self.held(frame).0.arrived).filter(|time| *time > Nanos(0))
    }

    /// At which side the frame arrived.
    pub fn side(&self, frame: Handle) -> Side {
        if (frame.0 as usize) < self.places.len() / 2 { Side::A } else { Side::B }
    }

    /// For how many more frames there is room in the part of a side.
    pub fn room(&self, side: Side) -> usize {
        self.free[side.index()].len()
    }

    /// A frame of so many bytes, to be filled in, that goes the way of those that arrive at a side; none
    /// where there is no room for one, or for so many bytes in one.
    pub fn add(&mut self, side: Side, length: usize) -> Option<Handle> {
        if HEADROOM + length > self.stride {
            return None;
        }
        let frame = self.take(side)?;
        self.hold(frame, HEADROOM, length, Undone::default(), Nanos(0));
        Some(frame)
    }

    /// Leaves off what is behind the first `length` bytes of a frame.
    ///
    /// # Panics
    /// If it is not held.
    pub fn truncate(&mut self, frame: Handle, length: usize) {
        let whole = self.held(frame).0.length as usize;
        self.places[frame.0 as usize].length = whole.min(length) as u32;
    }

    fn held(&self, frame: Handle) -> (&Place, *mut u8) {
        let place = &self.places[frame.0 as usize];
        assert_eq!(place.owner, Owner::Holder, "frame {} is not held", frame.0);
        let offset = frame.0 as usize * self.stride + place.start as usize;
        (place, self.memory.at(offset, place.length as usize))
    }

    /// A free place for a frame that is to arrive at a side.
    pub(crate) fn take(&mut self, side: Side) -> Option<Handle> {
        let place = self.free[side.index()].pop()?;
        self.places[place as usize].owner = Owner::Backend;
        Some(Handle(place))
    }

    /// Where a place of the backend's begins.
    pub(crate) fn room_at(&self, frame: Handle) -> *mut u8 {
        assert_eq!(self.places[frame.0 as usize].owner, Owner::Backend);
        self.memory.at(frame.0 as usize * self.stride, self.stride)
    }

    /// A frame has been put into a place of the backend's, from `start` on.
    pub(crate) fn hold(
        &mut self,
        frame: Handle,
        start: usize,
        length: usize,
        undone: Undone,
        arrived: Nanos,
    ) {
        assert!(start + length <= self.stride, "longer than its place");
        let place = &mut self.places[frame.0 as usize];
        assert_eq!(place.owner, Owner::Backend);
        let (start, length) = (start as u32, length as u32);
        *place = Place { owner: Owner::Holder, start, length, undone, arrived };
    }

    /// Puts a VLAN tag, protocol and control information, into a frame that is held and has four
    /// bytes of room before it.
    pub(crate) fn insert_tag(&mut self, frame: Handle, [protocol, control]: [u16; 2]) {
        let place = &mut self.places[frame.0 as usize];
        place.start -= 4;
        place.length += 4;
        place.undone = place.undone.shifted(4);
        let bytes = self.bytes_mut(frame);
        bytes.copy_within(4..4 + Self::ADDRESSES, 0);
        bytes[12..14].copy_from_slice(&protocol.to_be_bytes());
        bytes[14..16].copy_from_slice(&control.to_be_bytes());
    }

    /// Gives a frame that is held to the backend.
    pub(crate) fn hand_over(&mut self, frame: Handle) {
        let place = &mut self.places[frame.0 as usize];
        assert_eq!(place.owner, Owner::Holder, "frame {} is not held", frame.0);
        place.owner = Owner::Backend;
    }

    /// Where the frame in a place of the backend's begins within it, how long it is, and what is
    /// undone.
    pub(crate) fn extent(&self, frame: Handle) -> (usize, usize, Undone) {
        let place = &self.places[frame.0 as usize];
        (place.start as usize, place.length as usize, place.undone)
    }

    /// A place of the backend's is free again.
    pub(crate) fn put_back(&mut self, frame: Handle) {
        let side = self.side(frame);
        let place = &mut self.places[frame.0 as usize];
        assert_eq!(place.owner, Owner::Backend);
        place.owner = Owner::Free;
        self.free[side.index()].push(frame.0);
    }

    pub(crate) fn release(&mut self, frame: Handle) {
        self.hand_over(frame);
        self.put_back(frame);
    }

    /// All of its memory, to be shared with the kernel.
    pub(crate) fn memory(&self) -> &Mapping {
        &self.memory
    }

    pub(crate) fn stride(&self) -> usize {
        self.stride
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn received(pool: &mut Pool, side: Side, bytes: &[u8]) -> Handle {
        let frame = pool.take(side).expect("room");
        pool.hold(frame, 16, bytes.len(), Undone::default(), Nanos(0));
        pool.bytes_mut(frame).copy_from_slice(bytes);
        frame
    }

    #[test]
    fn frames_keep_their_bytes_and_directions_their_room() {
        let mut pool = Pool::new(2, 4096).expect("memory");
        let (one, two) = (received(&mut pool, Side::A, b"one"), received(&mut pool, Side::A, b"2"));
        assert_eq!((pool.take(Side::A), pool.room(Side::A), pool.room(Side::B)), (None, 0, 2));
        let three = received(&mut pool, Side::B, b"three");
        assert_eq!([one, two, three].map(|frame| pool.side(frame)), [Side::A, Side::A, Side::B]);
        assert_eq!(pool.bytes(one), b"one");
        assert_eq!(pool.bytes(two), b"2");
        assert_eq!(pool.bytes(three), b"three");
        pool.release(one);
        assert_eq!((pool.room(Side::A), pool.bytes(two)), (1, b"2".as_slice()));
    }

    #[test]
    fn a_frame_that_is_not_held_is_out_of_reach() {
        let mut pool = Pool::new(2, 4096).expect("memory");
        let frame = received(&mut pool, Side::A, b"sent");
        pool.hand_over(frame);
        let mut refused = |touch: &dyn Fn(&mut Pool)| {
            catch_unwind(AssertUnwindSafe(|| touch(&mut pool))).is_err()
        };
        assert!(refused(&|pool| drop(pool.bytes(frame).to_vec())));
        assert!(refused(&|pool| pool.bytes_mut(frame).fill(0)));
        assert!(refused(&|pool| pool.release(frame)));
        assert!(refused(&|pool| pool.hand_over(frame)));
        assert!(refused(&|pool| pool.release(Handle(1))));
        assert!(refused(&|pool| pool.release(Handle(4))));
        pool.put_back(frame);
        assert_eq!(pool.room(Side::A), 2);
    }
}
