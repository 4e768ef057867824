//! Memory for frames that wait.

use std::iter::repeat_n;

use laxity::units::Nanos;

use super::{Origin, Port, VnetHeader};
use crate::clock::Clock;
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
    /// The holder of its handle.
    Holder,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    owner: Owner,
    /// At which interface the frame arrived.
    port: Port,
    /// Where the frame begins within the place.
    start: u32,
    length: u32,
    undone: VnetHeader,
    arrived: Nanos,
}

/// Equal places for frames, as many for those that arrive at each interface. Places that were used
/// last are used next, so that memory which has never been needed takes no room.
#[derive(Debug)]
pub struct Pool {
    memory: Mapping,
    stride: usize,
    places: Vec<Place>,
    /// By the interface at which they arrive.
    free: Vec<Vec<u32>>,
    /// By place, where a backend knows it of its frames.
    origins: Vec<Origin>,
    /// In which frames are stamped.
    clock: Clock,
}

/// Room before a frame that is made here, for what a backend puts there.
const HEADROOM: usize = 256;

impl Pool {
    /// The most frames for each interface.
    pub const LIMIT: u32 = 1 << 20;

    /// How long the two addresses are with which a frame begins; a VLAN tag comes behind them.
    pub(crate) const ADDRESSES: usize = 12;

    /// `each` places of `stride` bytes for each interface.
    pub(crate) fn new(interfaces: u16, each: u32, stride: usize) -> Result<Self, Error> {
        let each = each.clamp(1, Self::LIMIT);
        let all = usize::from(interfaces) * each as usize;
        let memory = Mapping::memory(all * stride);
        let empty = |port| Place {
            owner: Owner::Free,
            port,
            start: 0,
            length: 0,
            undone: VnetHeader::default(),
            arrived: Nanos(0),
        };
        let ports = (0..interfaces).map(Port);
        let of = |port: Port| {
            let first = u32::from(port.0) * each;
            (first..first + each).rev().collect()
        };
        Ok(Pool {
            memory: memory.doing(format!("get memory for {each} frames of each interface"))?,
            stride,
            places: ports.clone().flat_map(|port| repeat_n(empty(port), each as usize)).collect(),
            free: ports.map(of).collect(),
            origins: Vec::new(),
            clock: Clock::Realtime,
        })
    }

    /// Keeps the origins of frames from now on.
    pub(crate) fn with_origins(mut self) -> Self {
        self.origins = vec![Origin::default(); self.places.len()];
        self
    }

    /// Its frames are stamped by another clock than the time of day.
    pub(crate) fn with_clock(self, clock: Clock) -> Self {
        Pool { clock, ..self }
    }

    /// The clock by which its frames are stamped.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The frame.
    ///
    /// # Panics
    /// If it is not held.
    pub fn bytes(&self, frame: Handle) -> &[u8] {
        let (place, first) = self.held(frame);
        // SAFETY: the bytes lie within the mapping, only the holder of a frame touches it, and
        // taking it away needs `&mut self`.
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
    pub fn undone(&self, frame: Handle) -> VnetHeader {
        self.held(frame).0.undone
    }

    /// When the frame arrived at the interface, by the kernel's stamp of its [clock](Self::clock),
    /// where it has one.
    ///
    /// # Panics
    /// If it is not held.
    pub fn arrived(&self, frame: Handle) -> Option<Nanos> {
        Some(self.held(frame).0.arrived).filter(|time| *time > Nanos(0))
    }

    /// What the host knows of the frame, if frames come from the host's own stack.
    pub fn origin(&self, frame: Handle) -> Option<Origin> {
        self.origins.get(frame.0 as usize).copied()
    }

    /// The frame is of this origin.
    pub fn set_origin(&mut self, frame: Handle, origin: Origin) {
        if let Some(known) = self.origins.get_mut(frame.0 as usize) {
            *known = origin;
        }
    }

    /// The frame arrived when the one did that it is made of; `None` where that is not known.
    pub fn set_arrived(&mut self, frame: Handle, arrived: Option<Nanos>) {
        self.places[frame.0 as usize].arrived = arrived.unwrap_or_default();
    }

    /// At which interface the frame arrived.
    pub fn port(&self, frame: Handle) -> Port {
        self.places[frame.0 as usize].port
    }

    /// For how many more frames there is room in the part of an interface.
    pub fn room(&self, at: impl Into<Port>) -> usize {
        self.free[at.into().index()].len()
    }

    /// A new frame of `length` bytes in the part of the frames that arrive at an interface. `None`
    /// if there is no place left, or if a place is shorter.
    pub fn add(&mut self, at: impl Into<Port>, length: usize) -> Option<Handle> {
        if HEADROOM + length > self.stride {
            return None;
        }
        let frame = self.take(at.into())?;
        self.hold(frame, HEADROOM, length, VnetHeader::default(), Nanos(0));
        Some(frame)
    }

    /// Another frame like this one, in the same part. `None` if there is no place left.
    ///
    /// # Panics
    /// If it is not held.
    pub fn copy(&mut self, frame: Handle) -> Option<Handle> {
        let Place { port, start, length, undone, arrived, .. } = *self.held(frame).0;
        let copy = self.take(port)?;
        self.hold(copy, start as usize, length as usize, undone, arrived);
        let (from, to) = (self.held(frame).1, self.held(copy).1);
        // SAFETY: both places are held, as long as this, and not the same one, so that they do not
        // overlap; `&mut self` keeps everyone else away.
        unsafe { std::ptr::copy_nonoverlapping(from, to, length as usize) };
        Some(copy)
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

    /// A free place for a frame that is to arrive at an interface.
    pub(crate) fn take(&mut self, at: Port) -> Option<Handle> {
        let place = self.free[at.index()].pop()?;
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
        undone: VnetHeader,
        arrived: Nanos,
    ) {
        assert!(start + length <= self.stride, "longer than its place");
        let place = &mut self.places[frame.0 as usize];
        assert_eq!(place.owner, Owner::Backend);
        let (start, length) = (start as u32, length as u32);
        let port = place.port;
        *place = Place { owner: Owner::Holder, port, start, length, undone, arrived };
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

    /// Takes the first bytes off a frame that is held, with room for them kept before it.
    ///
    /// # Panics
    /// If it is shorter.
    pub(crate) fn strip(&mut self, frame: Handle, count: u16) {
        let place = &mut self.places[frame.0 as usize];
        assert_eq!(place.owner, Owner::Holder, "frame {} is not held", frame.0);
        place.start += u32::from(count);
        place.length = place.length.checked_sub(count.into()).expect("it is as long as that");
        place.undone = place.undone.without(count);
    }

    /// Gives a frame that is held to the backend.
    pub(crate) fn hand_over(&mut self, frame: Handle) {
        let place = &mut self.places[frame.0 as usize];
        assert_eq!(place.owner, Owner::Holder, "frame {} is not held", frame.0);
        place.owner = Owner::Backend;
    }

    /// Where the frame in a place of the backend's begins within it, how long it is, and what is
    /// undone.
    pub(crate) fn extent(&self, frame: Handle) -> (usize, usize, VnetHeader) {
        let place = &self.places[frame.0 as usize];
        (place.start as usize, place.length as usize, place.undone)
    }

    /// A place of the backend's is free again.
    pub(crate) fn put_back(&mut self, frame: Handle) {
        let place = &mut self.places[frame.0 as usize];
        assert_eq!(place.owner, Owner::Backend);
        place.owner = Owner::Free;
        self.free[place.port.index()].push(frame.0);
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

    const A: Port = Port(0);
    const B: Port = Port(1);

    fn received(pool: &mut Pool, at: Port, bytes: &[u8]) -> Handle {
        let frame = pool.take(at).expect("room");
        pool.hold(frame, 16, bytes.len(), VnetHeader::default(), Nanos(0));
        pool.bytes_mut(frame).copy_from_slice(bytes);
        frame
    }

    #[test]
    fn frames_keep_their_bytes_and_directions_their_room() {
        let mut pool = Pool::new(2, 2, 4096).expect("memory");
        let (one, two) = (received(&mut pool, A, b"one"), received(&mut pool, A, b"2"));
        assert_eq!((pool.take(A), pool.room(A), pool.room(B)), (None, 0, 2));
        let three = received(&mut pool, B, b"three");
        assert_eq!([one, two, three].map(|frame| pool.port(frame)), [A, A, B]);
        assert_eq!(pool.bytes(one), b"one");
        assert_eq!(pool.bytes(two), b"2");
        assert_eq!(pool.bytes(three), b"three");
        pool.release(one);
        assert_eq!((pool.room(A), pool.bytes(two)), (1, b"2".as_slice()));
    }

    #[test]
    fn a_frame_that_is_not_held_is_out_of_reach() {
        let mut pool = Pool::new(2, 2, 4096).expect("memory");
        let frame = received(&mut pool, A, b"sent");
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
        assert_eq!(pool.room(A), 2);
    }
}
