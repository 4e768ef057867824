//! Streams join and leave.

use alloc::collections::BTreeSet;

use super::slots::Slots;
use super::tolerance::Tolerance;
use super::{Class, Dwcs, DwcsSettings, Key, NEVER, Precedence, State, StreamId, Streams};
use crate::error::{SetupError, check, check_of};
use crate::packet::{ClassId, Packet};
use crate::queue::{Fifos, SeatId, Tournament, WinnerTree};
use crate::sched::Late;
use crate::scheduler::Backlog;

impl Dwcs {
    /// The most streams that a scheduler takes, of all classes together.
    pub const MOST_STREAMS: u32 = 1 << 24;

    /// A scheduler for these classes, numbered in their order.
    ///
    /// # Errors
    /// If a gap, a count or `check_every` is zero, or there are more than
    /// [`MOST_STREAMS`](Self::MOST_STREAMS).
    pub fn new(settings: DwcsSettings, classes: &[Streams]) -> Result<Self, SetupError> {
        let every = settings.check_every.into();
        check("the number of services between two checks", every, 1..=u32::MAX.into())?;
        let streams = classes.iter().map(|class| u64::from(class.count)).sum();
        check("the number of streams of all classes", streams, 0..=Self::MOST_STREAMS.into())?;
        let streams = streams as usize;
        let deadlines =
            (settings.precedence == Precedence::LossFirst).then(|| WinnerTree::new(streams, NEVER));
        let mut dwcs = Dwcs {
            settings,
            until_check: 0,
            classes: alloc::vec::Vec::with_capacity(classes.len()),
            free: BTreeSet::new(),
            slots: Slots::default(),
            streams: alloc::vec::Vec::with_capacity(streams),
            packets: Fifos::new(streams),
            precedence: Tournament::new(streams, Key::NONE),
            served: Key::NONE,
            deadlines,
            none_late_until: 0,
            arrivals: 0,
            backlog: Backlog::default(),
        };
        for &class in classes {
            dwcs.add(class)?;
        }
        Ok(dwcs)
    }

    /// Adds a class and returns its number: the lowest that is free. Takes time linear in the
    /// number of its streams, amortised: now and then the memory of all streams doubles.
    ///
    /// A later packet with the number of a class that is gone belongs to the new class.
    ///
    /// # Errors
    /// If its gap or its count is zero, or its streams, which lie next to each other, do not fit
    /// among [`MOST_STREAMS`](Self::MOST_STREAMS). Nothing has changed then.
    pub fn add(&mut self, streams: Streams) -> Result<ClassId, SetupError> {
        let Streams { stream, count } = streams;
        let number = self.free.first().copied();
        let number = number.unwrap_or(ClassId(self.classes.len() as u32));
        check_of("the number of streams", number, count.into(), 1..=Self::MOST_STREAMS.into())?;
        let gap = stream.gap.map_or(NEVER, |gap| gap.0);
        check_of("the gap in ns", number, gap, 1..=NEVER)?;
        if !self.slots.fits(count, Self::MOST_STREAMS) {
            return Err(SetupError::NoRoom { count, most: Self::MOST_STREAMS });
        }
        self.free.remove(&number);
        let class = Class { first: StreamId(self.slots.take(count)), count, leaving: None };
        let tolerance = Tolerance::new(stream.loss);
        let state = State {
            gap,
            deadline: 0,
            order: 0,
            rank: tolerance.rank(),
            tolerance,
            class: number,
            seat: SeatId(0),
            drops_late: stream.late == Late::Drop,
            has_packets: false,
            is_listed: false,
            is_leaving: false,
        };
        self.grow(state);
        self.streams[class.range()].fill(state);
        match self.classes.get_mut(number.index()) {
            Some(gone) => *gone = class,
            None => self.classes.push(class),
        }
        Ok(number)
    }

    /// Removes a class and returns whether there was one. It takes no more packets; queued packets
    /// are still sent, and with the last of them it is gone. Takes time linear in the number of its
    /// streams.
    pub fn remove(&mut self, class: ClassId) -> bool {
        if !self.takes_packets(class) {
            return false;
        }
        let mut with_packets = 0;
        for id in self.classes[class.index()].range().map(StreamId::from_index) {
            self.streams[id.index()].is_leaving = true;
            if self.streams[id.index()].has_packets {
                with_packets += 1;
            } else {
                self.unlist(id);
            }
        }
        self.classes[class.index()].leaving = Some(with_packets);
        if with_packets == 0 {
            self.release(class);
        }
        true
    }

    /// Whether there is such a class.
    pub fn takes_packets(&self, class: ClassId) -> bool {
        let found = self.classes.get(class.index());
        found.is_some_and(|class| class.count > 0 && class.leaving.is_none())
    }

    /// The stream of a packet, if its class takes packets.
    pub(super) fn stream_of(&self, packet: &Packet) -> Option<StreamId> {
        let class = self.classes.get(packet.class.index())?;
        if class.leaving.is_some() {
            return None;
        }
        self.queued_in(packet)
    }

    /// The stream of a queued packet.
    pub(super) fn queued_in(&self, packet: &Packet) -> Option<StreamId> {
        let class = self.classes.get(packet.class.index())?;
        let flow = packet.flow.0;
        let number = if flow < class.count { flow } else { flow.checked_rem(class.count)? };
        Some(StreamId(class.first.0 + number))
    }

    /// A stream of a class that leaves has sent its last packet.
    #[cold]
    pub(super) fn drained(&mut self, id: StreamId) {
        self.unlist(id);
        let number = self.streams[id.index()].class;
        if let Some(with_packets) = &mut self.classes[number.index()].leaving {
            *with_packets -= 1;
            if *with_packets == 0 {
                self.release(number);
            }
        }
    }

    /// Forgets a class without packets.
    fn release(&mut self, number: ClassId) {
        let gone = Class { first: StreamId(0), count: 0, leaving: None };
        let class = core::mem::replace(&mut self.classes[number.index()], gone);
        self.slots.give_back(class.first.0, class.count);
        self.free.insert(number);
    }

    fn unlist(&mut self, id: StreamId) {
        if let Some(deadlines) = &mut self.deadlines
            && self.streams[id.index()].is_listed
        {
            self.streams[id.index()].is_listed = false;
            deadlines.clear(id.index());
        }
    }

    /// Makes room for all slots, with streams like this one.
    fn grow(&mut self, state: State) {
        let slots = self.slots.end() as usize;
        if slots <= self.streams.len() {
            return;
        }
        self.streams.resize(slots, state);
        self.packets.grow(slots);
        self.precedence.grow(slots);
        if let Some(deadlines) = &mut self.deadlines {
            deadlines.grow(slots);
        }
    }
}

impl Class {
    fn range(&self) -> core::ops::Range<usize> {
        self.first.index()..self.first.index() + self.count as usize
    }
}
