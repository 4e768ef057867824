//! Events from the thread that forwards to the one that keeps books, without waiting.

use rtrb::{Consumer, Producer, RingBuffer};

use super::Options;

/// The end of a ring of events at which the forwarding thread writes. It never waits: events that
/// find no room are counted and lost.
pub(crate) struct Teller<E> {
    events: Producer<Entry<E>>,
    /// The bytes of captured frames; without capacity if none are captured.
    frames: Producer<u8>,
    /// Events that are told later. The ring has room for them.
    kept: Vec<Entry<E>>,
    /// Events lost since the last one told or kept.
    lost: u64,
}

/// The end of a ring of events at which they are read.
pub struct Reports<E> {
    events: Consumer<Entry<E>>,
    frames: Consumer<u8>,
    /// The last frame read; kept for its memory.
    frame: Vec<u8>,
    /// Events lost because nobody read in time. Books are short of them.
    pub lost: u64,
}

/// An event as it is read.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Report<'a, E> {
    /// What happened.
    pub event: &'a E,
    /// The frame that it is about, if frames are captured and there was room for it.
    pub frame: Option<&'a [u8]>,
    /// Events lost between the one before and this one.
    pub lost_before: u64,
}

struct Entry<E> {
    event: E,
    /// Length of its captured frame, in bytes.
    captured: u32,
    lost_before: u64,
}

impl<E> Teller<E> {
    /// A ring with nothing in it.
    pub(crate) fn new(options: Options) -> (Self, Reports<E>) {
        let (events, read) = RingBuffer::new(options.events);
        let (frames, captured) = RingBuffer::new(options.capture);
        let reports = Reports { events: read, frames: captured, frame: Vec::new(), lost: 0 };
        (Teller { events, frames, kept: Vec::new(), lost: 0 }, reports)
    }

    /// Tells an event that is about no frame.
    pub(crate) fn tell(&mut self, event: E) {
        self.tell_with(event, || None);
    }

    /// Tells an event, with all bytes of its frame if frames are captured and there is room.
    pub(crate) fn tell_with<'a>(&mut self, event: E, frame: impl FnOnce() -> Option<&'a [u8]>) {
        self.keep(event, frame);
        self.tell_kept();
    }

    /// The same, but keeps the event, which may be [changed](Self::change_kept) until it is
    /// [told](Self::tell_kept).
    pub(crate) fn keep<'a>(&mut self, event: E, frame: impl FnOnce() -> Option<&'a [u8]>) {
        if self.events.slots() <= self.kept.len() {
            self.lost += 1;
            return;
        }
        let captured = if self.captures() { self.capture(frame()) } else { 0 };
        self.kept.push(Entry { event, captured, lost_before: self.lost });
        self.lost = 0;
    }

    /// How many events are kept.
    pub(crate) fn kept(&self) -> usize {
        self.kept.len()
    }

    /// Changes all events that are kept.
    pub(crate) fn change_kept(&mut self, change: impl FnMut(&mut E)) {
        self.kept.iter_mut().map(|entry| &mut entry.event).for_each(change);
    }

    /// Tells all events that are kept.
    pub(crate) fn tell_kept(&mut self) {
        self.tell_kept_until(|_| false);
    }

    /// Tells the events that are kept before the first of these.
    pub(crate) fn tell_kept_until(&mut self, is_one: impl Fn(&E) -> bool) {
        let first = self.kept.iter().position(|entry| is_one(&entry.event));
        for entry in self.kept.drain(..first.unwrap_or(self.kept.len())) {
            // Nobody else takes the room that there was.
            let _ = self.events.push(entry);
        }
    }

    /// Whether frames are captured.
    pub(crate) fn captures(&self) -> bool {
        self.frames.buffer().capacity() > 0
    }

    fn capture(&mut self, frame: Option<&[u8]>) -> u32 {
        let frame = frame.filter(|frame| self.frames.push_entire_slice(frame).is_ok());
        frame.map_or(0, |frame| frame.len() as u32)
    }
}

impl<E> Reports<E> {
    /// Reads the events since the last call, in order.
    pub fn read(&mut self, mut each: impl FnMut(Report<'_, E>)) {
        while let Ok(Entry { event, captured, lost_before }) = self.events.pop() {
            self.lost += lost_before;
            self.frame.resize(captured as usize, 0);
            let frame = match self.frames.pop_entire_slice(&mut self.frame) {
                Ok(()) if !self.frame.is_empty() => Some(&self.frame[..]),
                _ => None,
            };
            each(Report { event: &event, frame, lost_before });
        }
    }
}
