//! What classes got in a part of time, in bytes.

use super::layout::Subject;
use crate::status::{DangerCause, MomentStatus, SecondStatus};

/// What all classes got in a part of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slot {
    /// When it begins, in seconds of 1970.
    pub(super) at: u64,
    /// In the order of the subject.
    pub(super) classes: Vec<ClassSlot>,
}

/// What a class got in a part of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClassSlot {
    /// How much of it was recorded, in ns.
    pub(super) over: u64,
    pub(super) bytes: u64,
    pub(super) packets: u64,
    pub(super) dropped: u64,
    /// In the worst second, in ns.
    pub(super) p99: u64,
    pub(super) max: u64,
    /// 0 without one.
    pub(super) bound: u64,
}

/// A moment, and its number among all that were ever written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NumberedMoment {
    pub(super) number: u64,
    /// The place of its class in the subject.
    pub(super) class: usize,
    pub(super) moment: MomentStatus,
}

/// Bytes of a class.
pub(super) const CLASS: usize = 7 * 8;
/// Bytes of a moment.
pub(super) const MOMENT: usize = 9 * 8 + CHECK;
/// Bytes of a checksum.
pub(super) const CHECK: usize = 4;

impl ClassSlot {
    /// Of a second, under this bound.
    pub(crate) fn new(second: &SecondStatus, bound: Option<u64>) -> Self {
        let SecondStatus { over_ns, bytes, packets, dropped, p99_ns, max_ns, .. } = *second;
        let bound = bound.unwrap_or(0);
        ClassSlot { over: over_ns, bytes, packets, dropped, p99: p99_ns, max: max_ns, bound }
    }

    /// What it got in both parts of time.
    pub(super) fn add(&mut self, other: &ClassSlot) {
        self.over += other.over;
        self.bytes += other.bytes;
        self.packets += other.packets;
        self.dropped += other.dropped;
        self.p99 = self.p99.max(other.p99);
        self.max = self.max.max(other.max);
        self.bound = self.bound.max(other.bound);
    }

    fn numbers(&self) -> [u64; CLASS / 8] {
        let ClassSlot { over, bytes, packets, dropped, p99, max, bound } = *self;
        [over, bytes, packets, dropped, p99, max, bound]
    }
}

impl Slot {
    /// Adds another slot of the same classes.
    pub(super) fn add(&mut self, other: &Slot) {
        self.classes.iter_mut().zip(&other.classes).for_each(|(class, other)| class.add(other));
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let numbers = self.classes.iter().flat_map(ClassSlot::numbers);
        checked(std::iter::once(self.at).chain(numbers))
    }

    /// `None` if nothing was written there, or not all of it.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Slot> {
        let mut numbers = numbers(bytes)?;
        let at = numbers.next()?;
        let mut classes = Vec::with_capacity(bytes.len() / CLASS);
        while let Some(over) = numbers.next() {
            let mut next = || numbers.next();
            let [bytes, packets, dropped] = [next()?, next()?, next()?];
            let [p99, max, bound] = [next()?, next()?, next()?];
            classes.push(ClassSlot { over, bytes, packets, dropped, p99, max, bound });
        }
        Some(Slot { at, classes })
    }
}

impl NumberedMoment {
    pub(super) fn to_bytes(&self, subject: &Subject) -> Vec<u8> {
        let NumberedMoment { number, class, moment } = self;
        let MomentStatus { from_s, until_s, max_ns, bound_ns, cause, .. } = moment;
        let way = subject.way(*class);
        let cause = match cause {
            DangerCause::Unknown => [0, 0, 0],
            DangerCause::Contract => [1, 0, 0],
            DangerCause::Late { late_ns } => [2, 0, *late_ns],
            DangerCause::Idle { percent } => [3, 0, *percent],
            DangerCause::Class { class, percent } => match subject.place(way, class) {
                Some(place) => [4, place as u64, *percent],
                // One of those beyond the most that are recorded.
                None => [0, 0, 0],
            },
        };
        // Nothing written is no moment.
        let begin = [*number + 1, *class as u64, *from_s, *until_s, *max_ns, *bound_ns];
        checked(begin.into_iter().chain(cause))
    }

    pub(super) fn from_bytes(bytes: &[u8], subject: &Subject) -> Option<NumberedMoment> {
        let numbers: Vec<u64> = numbers(bytes)?.collect();
        let [number, class, from_s, until_s, max_ns, bound_ns, kind, place, value] = numbers[..]
        else {
            return None;
        };
        let cause = match kind {
            1 => DangerCause::Contract,
            2 => DangerCause::Late { late_ns: value },
            3 => DangerCause::Idle { percent: value },
            4 => {
                DangerCause::Class { class: subject.class(place as usize)?.into(), percent: value }
            }
            _ => DangerCause::Unknown,
        };
        let class = class as usize;
        let name = subject.class(class)?.to_string();
        let moment = MomentStatus { class: name, from_s, until_s, max_ns, bound_ns, cause };
        Some(NumberedMoment { number: number.checked_sub(1)?, class, moment })
    }
}

/// Numbers and their checksum.
fn checked(numbers: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
    let check = crc32fast::hash(&bytes);
    bytes.extend(check.to_le_bytes());
    bytes
}

/// The numbers that a checksum is right for; what was never written has none.
fn numbers(bytes: &[u8]) -> Option<impl Iterator<Item = u64> + '_> {
    let (numbers, check) = bytes.split_last_chunk::<CHECK>()?;
    let (numbers, []) = numbers.as_chunks::<8>() else { return None };
    let is_right = crc32fast::hash(numbers.as_flattened()) == u32::from_le_bytes(*check);
    is_right.then(|| numbers.iter().map(|number| u64::from_le_bytes(*number)))
}
