//! Real-time classes join and leave, and best effort gets other deadlines, while packets are
//! queued.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{Assign, Class, Edf};
use crate::error::{SetupError, check_of};
use crate::packet::ClassId;
use crate::units::Nanos;

/// The queue of classes that have none among those by deadline.
pub(super) const BEST_EFFORT: u32 = u32::MAX;

/// Which deadlines and numbers of classes are in use.
#[derive(Clone, Debug)]
pub(super) struct Roll {
    /// The relative deadline of each queue.
    deadlines: Vec<Nanos>,
    /// How many classes use each queue.
    users: Vec<u32>,
    /// Queues by their relative deadlines.
    by_deadline: Vec<(Nanos, u32)>,
    /// Classes that take no packets any more. Some packets of theirs may be queued.
    leaving: Vec<Leaving>,
    /// Numbers of classes that are gone.
    free: BTreeSet<ClassId>,
}

/// A class that was removed.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    class: ClassId,
    /// No packet of it is due later.
    due: u64,
}

impl Class {
    pub(super) const BEST_EFFORT: Class =
        Class { deadline: Nanos::MAX, queue: BEST_EFFORT, has_demoted: false };
}

impl Roll {
    /// Of queues with these deadlines, the longest first.
    pub(super) fn new(deadlines: Vec<Nanos>, classes: &[Class]) -> Self {
        let mut users = alloc::vec![0; deadlines.len()];
        for class in classes.iter().filter(|class| class.queue != BEST_EFFORT) {
            users[class.queue as usize] += 1;
        }
        let by_deadline = deadlines.iter().copied().zip(0u32..).collect::<Vec<_>>();
        let by_deadline = by_deadline.into_iter().rev().collect();
        Roll { deadlines, users, by_deadline, leaving: Vec::new(), free: BTreeSet::new() }
    }

    #[inline(always)]
    pub(super) fn relative_deadline(&self, queue: usize) -> Nanos {
        self.deadlines[queue]
    }

    pub(super) fn footprint(&self) -> usize {
        self.deadlines.capacity() * size_of::<Nanos>()
            + self.users.capacity() * size_of::<u32>()
            + self.by_deadline.capacity() * size_of::<(Nanos, u32)>()
            + self.leaving.capacity() * size_of::<Leaving>()
    }
}

impl Edf {
    /// The most classes that can be [added](Self::add).
    pub const MOST_CLASSES: u32 = 1 << 24;

    /// Adds a real-time class with this relative deadline and returns its number: the lowest that
    /// is free. Takes time linear in the number of different deadlines and of classes that leave.
    ///
    /// Of two packets that are due at one instant, the one of a class that was there from the begin
    /// goes first.
    ///
    /// # Errors
    /// If the deadline is [`Nanos::MAX`] or there are [`MOST_CLASSES`](Self::MOST_CLASSES).
    pub fn add(&mut self, deadline: Nanos) -> Result<ClassId, SetupError> {
        let class = self.reserve(deadline)?;
        self.open(class);
        Ok(class)
    }

    /// Adds a real-time class that takes no packets until it is [opened](Self::open), as
    /// [`add`](Self::add) does.
    ///
    /// # Errors
    /// As those of [`add`](Self::add).
    pub fn reserve(&mut self, deadline: Nanos) -> Result<ClassId, SetupError> {
        self.forget_gone();
        let number = self.roll.free.first().copied();
        let number = number.unwrap_or(ClassId(self.classes.len() as u32));
        check_of("the deadline in ns", number, deadline.0, 0..=Nanos::MAX.0 - 1)?;
        if number.0 >= Self::MOST_CLASSES {
            return Err(SetupError::NoRoom { count: 1, most: Self::MOST_CLASSES });
        }
        self.roll.free.remove(&number);
        let queue = self.queue_for(deadline);
        self.roll.users[queue as usize] += 1;
        let class = Class { deadline: Nanos::MAX, queue, has_demoted: false };
        match self.classes.get_mut(number.index()) {
            Some(gone) => *gone = class,
            None => self.classes.push(class),
        }
        Ok(number)
    }

    /// From now on a class that was [reserved](Self::reserve) takes packets.
    pub fn open(&mut self, class: ClassId) {
        let is_used = !self.roll.free.contains(&class)
            && self.roll.leaving.iter().all(|leaving| leaving.class != class);
        if let Some(class) = self.classes.get_mut(class.index()).filter(|_| is_used)
            && class.queue != BEST_EFFORT
        {
            class.deadline = self.roll.deadlines[class.queue as usize];
        }
    }

    /// Removes a real-time class and returns whether there was one. It takes no more packets;
    /// queued packets are still sent by their deadlines. Its number is free again when none of them
    /// is queued, and, if any packet of it was ever demoted, no best effort is.
    pub fn remove(&mut self, now: Nanos, number: ClassId) -> bool {
        let Some(class) = self.classes.get_mut(number.index()) else { return false };
        let is_leaving = |leaving: &Leaving| leaving.class == number;
        if class.queue == BEST_EFFORT
            || self.roll.free.contains(&number)
            || self.roll.leaving.iter().any(is_leaving)
        {
            return false;
        }
        class.deadline = Nanos::MAX;
        let due = now.saturating_add(self.roll.deadlines[class.queue as usize]).0;
        self.roll.leaving.push(Leaving { class: number, due });
        true
    }

    /// Whether a packet of a real-time class is queued that was not demoted.
    pub fn has_promised(&mut self) -> bool {
        self.queues.least().is_some()
    }

    /// Gives best effort deadlines by another rule from now on: packets that are queued count as if
    /// they came now.
    pub fn exchange(&mut self, now: Nanos, assign: Assign) {
        self.best_effort.exchange(now, assign);
    }

    /// Whether a demoted packet of a real-time class is taken.
    #[cold]
    pub(super) fn accepts_demoted(&mut self, class: ClassId) -> bool {
        let class = &mut self.classes[class.index()];
        let is_open = class.deadline < Nanos::MAX;
        class.has_demoted |= is_open;
        is_open
    }

    /// Frees the numbers of classes that have left.
    fn forget_gone(&mut self) {
        let is_idle = self.best_effort.is_empty();
        let (classes, queues) = (&self.classes, &mut self.queues);
        let Roll { leaving, free, users, .. } = &mut self.roll;
        leaving.retain(|&Leaving { class: number, due }| {
            let class = &classes[number.index()];
            let queue = class.queue as usize;
            let is_queued = queues.front_key(queue).is_some_and(|first| first <= due);
            if is_queued || class.has_demoted && !is_idle {
                return true;
            }
            users[queue] -= 1;
            free.insert(number);
            false
        });
    }

    /// The queue for a relative deadline: that of classes with the same one, an unused one, or one
    /// more.
    fn queue_for(&mut self, deadline: Nanos) -> u32 {
        let Roll { deadlines, users, by_deadline, .. } = &mut self.roll;
        let position = |queues: &[(Nanos, u32)]| queues.partition_point(|of| of.0 < deadline);
        if let Some((found, queue)) = by_deadline.get(position(by_deadline))
            && *found == deadline
        {
            return *queue;
        }
        let is_unused = |&(_, queue): &(Nanos, u32)| users[queue as usize] == 0;
        let queue = match by_deadline.iter().position(is_unused) {
            Some(unused) => by_deadline.remove(unused).1,
            None => {
                self.queues.grow(deadlines.len() + 1);
                deadlines.push(deadline);
                users.push(0);
                deadlines.len() as u32 - 1
            }
        };
        deadlines[queue as usize] = deadline;
        by_deadline.insert(position(by_deadline), (deadline, queue));
        queue
    }
}
