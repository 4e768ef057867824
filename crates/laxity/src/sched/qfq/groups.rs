//! Which group is next: four sets of groups, and the virtual time.

use alloc::vec::Vec;

use super::aggregate::{Aggregate, AggregateId};
use super::group::Group;
use super::share::{BYTE, Share};

/// The groups, from the one with the smallest slots on, and the virtual time V.
///
/// A group is eligible (E) once the virtual time has come to its start time, else ineligible (I).
/// It is blocked (B) by a later one that is eligible and finishes before it, else ready (R). Groups
/// of one set finish in their order, so that the first of ER is the eligible one that finishes
/// first, and whole parts of a set change over at once (their Theorems 1 to 3).
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    virtual_time: u128,
    /// The latest virtual finishing time that an aggregate has ever had.
    latest: u128,
    /// The sets [`ER`], [`IR`], [`EB`] and [`IB`].
    sets: [u64; 4],
    /// The only aggregate that has packets, if it is: it is in no group as yet.
    alone: Option<AggregateId>,
    /// Of the smallest slots.
    shift: u32,
    groups: Vec<Group>,
}

const ER: usize = 0;
const IR: usize = 1;
const EB: usize = 2;
const IB: usize = 3;

impl Groups {
    /// The groups that these need.
    pub(super) fn new(shares: &[Share]) -> Self {
        let shifts = || shares.iter().map(|share| share.slot_shift);
        let (least, most) = (shifts().min().unwrap_or(0), shifts().max().unwrap_or(0));
        let groups = (least..=most).map(Group::new).collect();
        Groups { shift: least, groups, ..Groups::default() }
    }

    /// The number of an aggregate's group.
    pub(super) fn number_of(&self, share: &Share) -> u8 {
        (share.slot_shift - self.shift) as u8
    }

    /// A busy period begins, and nothing is left of the one before.
    pub(super) fn begin(&mut self) {
        self.advance(self.virtual_time.max(self.latest));
    }

    /// The link begins to send a packet this long.
    pub(super) fn pass(&mut self, length: u32) {
        self.advance(self.virtual_time + u128::from(length) * BYTE);
    }

    /// An aggregate that was idle has packets. It starts where it finished, or now if that is over,
    /// but no later than the group finishes that would block its own: so the order within sets is
    /// kept.
    pub(super) fn activate(&mut self, aggregates: &mut [Aggregate], number: AggregateId) {
        if let Some(alone) = self.alone.take() {
            self.schedule(aggregates, alone);
        }
        let aggregate = &mut aggregates[number.index()];
        let ready = self.sets[ER] & !before(aggregate.group.into());
        let now = match first(ready) {
            Some(group) => self.virtual_time.min(self.groups[group].finish()),
            None => self.virtual_time,
        };
        aggregate.start = aggregate.start.max(now);
        if self.sets == [0; 4] {
            self.alone = Some(number);
        } else {
            self.schedule(aggregates, number);
        }
    }

    fn schedule(&mut self, aggregates: &mut [Aggregate], number: AggregateId) {
        let group = usize::from(aggregates[number.index()].group);
        if self.groups[group].insert(aggregates, number) {
            self.place(group);
        }
    }

    /// The aggregate that is to be served. It stays where it is while it is.
    pub(super) fn next(&mut self, aggregates: &[Aggregate]) -> Option<AggregateId> {
        if let Some(alone) = self.alone {
            let Aggregate { group, start, .. } = aggregates[alone.index()];
            let starts = self.groups[usize::from(group)].rounded(start);
            self.virtual_time = self.virtual_time.max(starts);
            return self.alone;
        }
        if self.sets[ER] == 0 {
            // The first one starts first.
            let group = first(self.sets[IR] | self.sets[IB])?;
            self.advance(self.groups[group].start);
        }
        Some(self.groups[first(self.sets[ER])?].first())
    }

    /// An aggregate has used this much of its budget, or has lost its packets: it is scheduled anew
    /// from where it finished, if it has packets.
    pub(super) fn end(&mut self, aggregates: &mut [Aggregate], number: AggregateId) {
        if self.alone == Some(number) {
            let aggregate = &mut aggregates[number.index()];
            aggregate.finish();
            self.latest = self.latest.max(aggregate.start);
            self.alone.take_if(|_| aggregate.is_idle());
            return;
        }
        let aggregate = &aggregates[number.index()];
        let number_of_group = usize::from(aggregate.group);
        let group = &mut self.groups[number_of_group];
        let (start, finish) = (group.start, group.finish());
        group.remove(aggregates, number);
        let aggregate = &mut aggregates[number.index()];
        aggregate.finish();
        self.latest = self.latest.max(aggregate.start);
        if !aggregate.is_idle() {
            group.insert(aggregates, number);
        }
        if group.is_empty() || group.start != start {
            let was_ready = self.sets[ER] & 1 << number_of_group != 0;
            self.place(number_of_group);
            if was_ready {
                self.unblock(number_of_group, finish);
            }
        }
    }

    /// Whether an aggregate that waits had begun by the virtual time when a packet this long was
    /// chosen, which was the last.
    pub(super) fn had_begun(&self, aggregate: &Aggregate, length: u32) -> bool {
        let group = &self.groups[usize::from(aggregate.group)];
        group.rounded(aggregate.start) + u128::from(length) * BYTE <= self.virtual_time
    }

    pub(super) fn footprint(&self) -> usize {
        self.groups.capacity() * size_of::<Group>()
    }

    /// Moves the virtual time on. A start time to come is the next multiple of its group's slot, so
    /// a group becomes eligible when the virtual time passes the end of its slot.
    fn advance(&mut self, to: u128) {
        let passed = (self.virtual_time ^ to) >> self.shift;
        self.virtual_time = to;
        if passed != 0 {
            let groups = before(passed.ilog2() + 1);
            self.change(IR, ER, groups);
            self.change(IB, EB, groups);
        }
    }

    /// Puts a group into the set that its times say, or into none if it is empty.
    fn place(&mut self, number: usize) {
        self.sets = self.sets.map(|set| set & !(1 << number));
        let group = &self.groups[number];
        if group.is_empty() {
            return;
        }
        let is_eligible = group.start <= self.virtual_time;
        let later = first(self.sets[ER] & !before(number as u32));
        let is_blocked = later.is_some_and(|later| self.groups[later].finish() < group.finish());
        let set = match (is_eligible, is_blocked) {
            (true, false) => ER,
            (false, false) => IR,
            (true, true) => EB,
            (false, true) => IB,
        };
        self.sets[set] |= 1 << number;
    }

    /// A ready group that finished at this time has another, or none: those that it blocked are
    /// ready, unless the next one blocks them.
    fn unblock(&mut self, group: usize, finish: u128) {
        let later = first(self.sets[ER] & !before(group as u32 + 1));
        if later.is_some_and(|later| self.groups[later].finish() <= finish) {
            return;
        }
        let earlier = before(group as u32);
        let others = self.sets[ER] & earlier;
        let groups = earlier & !others.checked_ilog2().map_or(0, |last| before(last + 1));
        self.change(EB, ER, groups);
        self.change(IB, IR, groups);
    }

    /// Moves those among `groups` from one set into another.
    fn change(&mut self, from: usize, to: usize, groups: u64) {
        self.sets[to] |= self.sets[from] & groups;
        self.sets[from] &= !groups;
    }
}

/// The groups before this one.
fn before(group: u32) -> u64 {
    1u64.checked_shl(group).map_or(u64::MAX, |one| one - 1)
}

/// The first group of a set.
fn first(set: u64) -> Option<usize> {
    (set != 0).then(|| set.trailing_zeros() as usize)
}
