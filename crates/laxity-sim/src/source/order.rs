//! Recordings in order of time.
//!
//! A capture that is taken from several queues of an interface has its frames slightly out of
//! order, because every queue hands over its own ones together. Such frames are held until no
//! earlier one may come, and so put in order in bounded memory. What is further out of order is no
//! matter of queues: the clock stepped back, or files were joined in the wrong order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use laxity::packet::{AckTag, ClassId, FlowId};
use laxity::units::Nanos;
use laxity_plan::encapsulation;
use laxity_plan::model::{Class, Plan};

use super::arrival::{Arrival, Arrivals, Introduction, Remarks};
use crate::error::SimError;

/// How far behind an earlier frame of the file a capture's frame may be stamped. Queues are handed
/// over after some ten milliseconds at the latest; clocks that are set step further.
pub const WINDOW: Nanos = Nanos(100_000_000);

/// The most packets that are held for the window, at 40 bytes each.
pub(crate) const MOST_HELD: usize = 1 << 18;

/// The most packets that are sorted, for all are held.
const MOST_SORTED: usize = 50_000_000;

/// What a file recorded, in the order of the file.
pub(super) trait Records: Send {
    /// How far a record's time may lie behind that of one before it.
    const WINDOW: Nanos;

    /// The next record, or `None` at the end.
    fn next_record(&mut self) -> Result<Option<Record>, SimError>;

    /// Refuses the last record, whose time lies too far behind the newest before it.
    fn refuse_step(&self, time: i64, newest: i64) -> SimError;

    /// The time at which a run starts, given the earliest of the recording.
    fn origin(&self, earliest: i64) -> i64;

    /// Introduces the flows that have come into sight since the last call, if hosts are known.
    fn introduce(&mut self, introduce: &mut dyn FnMut(Introduction)) {
        let _ = introduce;
    }

    /// What was seen so far, but for the order of it.
    fn remarks(&self) -> Remarks {
        Remarks::default()
    }
}

/// The packets that a class of the plan may have.
pub(super) struct ClassLimit {
    pub name: String,
    pub is_leaf: bool,
    /// The longest packet in bytes.
    pub longest: u64,
}

impl ClassLimit {
    /// Those of all classes, by number.
    pub(super) fn all(plan: &Plan) -> Vec<ClassLimit> {
        let limit = |class: &Class| ClassLimit {
            name: class.name.clone(),
            is_leaf: class.is_leaf(),
            longest: plan.max_packet(class).min(plan.link.max_packet).0,
        };
        plan.classes.iter().map(limit).collect()
    }
}

/// A time, and the packet that was recorded then if it takes part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// In ns; from where on, [`Records::origin`] says.
    pub time: i64,
    pub packet: Option<Sighting>,
}

/// A recorded packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sighting {
    pub class: ClassId,
    pub flow: FlowId,
    pub length: u32,
    /// The DS field; its two bits of ECN count.
    pub ds: u8,
    /// The bits of its [`AckTag`].
    pub ack: u16,
}

/// A recording whose arrivals are in order of time, those of the same time in that of the file.
pub(super) struct Sorter<R> {
    records: R,
    /// How far behind the newest time a packet may come; `None` sorts all.
    window: Option<Nanos>,
    /// By time and place in the file.
    held: BinaryHeap<Reverse<(i64, u64, Sighting)>>,
    /// Records read, and whether there are no more.
    read: u64,
    ended: bool,
    earliest: i64,
    newest: i64,
    /// The time of the last arrival.
    arrived: i64,
    reordered: u64,
    furthest: Nanos,
}

impl<R: Records> Sorter<R> {
    pub(super) fn new(records: R, sort: bool) -> Self {
        Sorter {
            records,
            window: (!sort).then_some(R::WINDOW),
            held: BinaryHeap::new(),
            read: 0,
            ended: false,
            earliest: i64::MAX,
            newest: i64::MIN,
            arrived: i64::MIN,
            reordered: 0,
            furthest: Nanos::ZERO,
        }
    }

    /// Whether the earliest packet that is held may arrive: none comes that is earlier.
    fn is_due(&self, time: i64) -> bool {
        let behind = Nanos(self.newest.abs_diff(time));
        self.ended
            || self.window.is_some_and(|window| behind >= window || self.held.len() > MOST_HELD)
    }

    fn read_on(&mut self) -> Result<(), SimError> {
        let Some(Record { time, packet }) = self.records.next_record()? else {
            self.ended = true;
            return Ok(());
        };
        let behind = Nanos(self.newest.saturating_sub(time).max(0) as u64);
        if self.window.is_some_and(|window| behind > window) || time < self.arrived {
            return Err(self.records.refuse_step(time, self.newest));
        }
        self.reordered += u64::from(behind > Nanos::ZERO);
        self.furthest = self.furthest.max(behind);
        self.earliest = self.earliest.min(time);
        self.newest = self.newest.max(time);
        if let Some(packet) = packet {
            if self.held.len() == MOST_SORTED {
                return Err(SimError::TooLongToSort { limit: MOST_SORTED });
            }
            self.held.push(Reverse((time, self.read, packet)));
        }
        self.read += 1;
        Ok(())
    }
}

impl<R: Records> Arrivals for Sorter<R> {
    fn next_arrival(&mut self) -> Result<Option<Arrival>, SimError> {
        loop {
            match self.held.peek() {
                Some(Reverse((time, ..))) if self.is_due(*time) => break,
                None if self.ended => break,
                _ => self.read_on()?,
            }
        }
        let Some(Reverse((time, _, packet))) = self.held.pop() else { return Ok(None) };
        self.arrived = time;
        let Sighting { class, flow, length, ds, ack } = packet;
        let time = Nanos(time.abs_diff(self.records.origin(self.earliest)));
        let (ecn, ack) = (encapsulation::ecn(ds), AckTag::from_bits(ack).unwrap_or_default());
        Ok(Some(Arrival { time, class, flow, length, ecn, ack }))
    }

    fn introduce(&mut self, introduce: &mut dyn FnMut(Introduction)) {
        self.records.introduce(introduce);
    }

    fn is_recording(&self) -> bool {
        true
    }

    fn remarks(&self) -> Remarks {
        let Sorter { records, reordered, furthest, .. } = self;
        Remarks { reordered: *reordered, furthest: *furthest, ..records.remarks() }
    }
}
