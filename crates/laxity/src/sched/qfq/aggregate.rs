//! Classes of equal weight and packets that are scheduled as one aggregate and take turns within
//! it.

use super::share::{AGGREGATE, Share};

crate::id! {
    /// An aggregate.
    pub(super) struct AggregateId;

    /// A class, numbered aggregate by aggregate.
    pub(super) struct MemberId;
}

/// No aggregate.
pub(super) const NONE: AggregateId = AggregateId(u32::MAX);

/// An aggregate. One cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Aggregate {
    /// S, its virtual start time, if it is scheduled or in service; else F, where it finished.
    pub start: u128,
    /// 1/phi.
    per_byte: u64,
    /// Bytes that it may send before it is scheduled anew.
    budget: u64,
    turns: Turns,
    /// The number of the first of its classes' members.
    first_member: MemberId,
    /// Of each class: its largest packet.
    quantum: u32,
    /// Those before and behind it in its slot.
    pub next: AggregateId,
    pub previous: AggregateId,
    classes: u8,
    /// The number of its group.
    pub group: u8,
}

/// A class within its aggregate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Member {
    /// Bytes that it may send in its turn.
    deficit: u32,
    /// The length of its first packet, if it has any.
    first: u32,
}

impl Aggregate {
    pub(super) fn new(share: &Share, group: u8, first_member: MemberId) -> Self {
        Aggregate {
            start: 0,
            per_byte: share.per_byte,
            budget: share.budget(),
            turns: Turns::default(),
            first_member,
            quantum: share.class.max_packet,
            next: NONE,
            previous: NONE,
            classes: share.classes.len() as u8,
            group,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.turns.0 == 0
    }

    /// The member that has its turn.
    pub(super) fn turn(&self) -> MemberId {
        MemberId(self.first_member.0 + self.turns.first())
    }

    /// Whether it may send its next packet before it is scheduled anew.
    pub(super) fn goes_on(&self, members: &[Member]) -> bool {
        !self.is_idle() && u64::from(members[self.turn().index()].first) <= self.budget
    }

    /// Ends the present job: its virtual time has passed, and unused budget is not charged.
    pub(super) fn finish(&mut self) {
        let all = u64::from(self.classes) * u64::from(self.quantum);
        self.start += u128::from(all - self.budget) * u128::from(self.per_byte);
        self.budget = all;
    }

    /// A class that had no packet has one, this long: its turn is the last.
    pub(super) fn join(&mut self, members: &mut [Member], member: MemberId, length: u32) {
        members[member.index()] = Member { deficit: self.quantum, first: length };
        self.turns.push(member.0 - self.first_member.0);
    }

    /// The packet in turn is sent; its class has this or no packet behind it. Deficit round robin:
    /// the rest of a turn is kept for the next one.
    pub(super) fn send(&mut self, members: &mut [Member], length: u32, next: Option<u32>) {
        self.budget -= u64::from(length);
        members[self.turn().index()].deficit -= length;
        self.lead(members, self.turn(), next);
    }

    /// A packet this long, or none, comes to the front of a class.
    pub(super) fn lead(&mut self, members: &mut [Member], member: MemberId, next: Option<u32>) {
        let place = member.0 - self.first_member.0;
        let member = &mut members[member.index()];
        let Some(first) = next else {
            member.first = 0;
            self.turns.remove(place);
            return;
        };
        member.first = first;
        if first > member.deficit {
            member.deficit += self.quantum;
            self.turns.remove(place);
            self.turns.push(place);
        }
    }
}

/// The backlogged classes of an aggregate in the order of their turns: each its place and one, in
/// four bits, the next one in the lowest.
#[derive(Clone, Copy, Debug, Default)]
struct Turns(u32);

impl Turns {
    fn first(self) -> u32 {
        (self.0 & 0xf) - 1
    }

    fn push(&mut self, place: u32) {
        let end = (u32::BITS - self.0.leading_zeros()).next_multiple_of(4);
        self.0 |= (place + 1) << end;
    }

    fn remove(&mut self, place: u32) {
        let at = (0..u32::BITS).step_by(4).find(|at| self.0 >> at & 0xf == place + 1);
        let Some(at) = at else { return };
        let before = (1 << at) - 1;
        self.0 = self.0 & before | (self.0 >> 4) & !before;
    }
}

const _: () = assert!(4 * AGGREGATE == u32::BITS as usize);
