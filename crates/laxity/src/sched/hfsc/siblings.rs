//! The classes below one parent, as link-sharing sees them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::queue::circle::{REACH, Stamp, whole};
use crate::queue::{EligibleSet, Extremes};

/// The classes that share what their parent gets.
#[derive(Clone, Debug, Default)]
pub(super) struct Siblings {
    /// The class in every place; `None` in places that are free.
    members: Vec<Option<u32>>,
    free: Vec<u32>,
    /// Virtual times of the active ones, by place.
    virtual_times: Extremes,
    /// The least of them; as long as there is one.
    least: u128,
    /// The active ones with fit times for eligible times and virtual times for deadlines, once an
    /// upper limit holds for any of them or below.
    fitting: Option<Box<EligibleSet>>,
    /// The greatest virtual time that any of them ever had.
    greatest: u128,
}

/// When an active class may be served by link-sharing, and its virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    pub virtual_time: u128,
    /// When all upper limits on the way to some packet allow it.
    pub fit: Stamp,
}

impl Siblings {
    /// How many classes there are.
    pub fn count(&self) -> usize {
        self.members.len() - self.free.len()
    }

    /// Adds a class, which is passive, and returns its place.
    pub fn add(&mut self, class: u32) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.members[place as usize] = Some(class);
                place
            }
            None => {
                self.members.push(Some(class));
                self.virtual_times.grow(self.members.len());
                (self.members.len() - 1) as u32
            }
        }
    }

    /// Takes out a class, which is passive.
    pub fn remove(&mut self, place: u32) {
        self.members[place as usize] = None;
        self.free.push(place);
    }

    /// The classes.
    pub fn members(&self) -> impl Iterator<Item = u32> {
        self.members.iter().copied().flatten()
    }

    /// Whether upper limits count here.
    pub fn is_limited(&self) -> bool {
        self.fitting.is_some()
    }

    /// Makes upper limits count, from the classes that are active and their standing.
    pub fn limit(&mut self, active: Vec<(u32, Standing)>) {
        let mut fitting = EligibleSet::new();
        for (class, Standing { virtual_time, fit }) in active {
            fitting.insert(fit, virtual_time as Stamp, class);
        }
        self.fitting = Some(Box::new(fitting));
    }

    /// Whether any class is active.
    pub fn is_active(&self) -> bool {
        self.virtual_times.least().is_some()
    }

    /// The system virtual time: the mean of the least and the greatest virtual time of active
    /// classes. If there are none, the greatest that there ever was, so that no class is ahead of
    /// another for what lies before.
    pub fn virtual_time(&self) -> u128 {
        match self.virtual_times.greatest() {
            Some(greatest) => self.least + (whole(greatest, self.least) - self.least) / 2,
            None => self.greatest,
        }
    }

    /// The class with the least virtual time among those that fit by `now`; among equals the lowest
    /// number's.
    pub fn least(&self, now: Stamp) -> Option<u32> {
        match &self.fitting {
            None => self.virtual_times.least().map(|(_, class)| class),
            Some(fitting) => fitting.least_deadline(now),
        }
    }

    /// When the first class fits; 0 where there are no limits.
    pub fn first_fit(&self) -> Stamp {
        self.fitting.as_ref().and_then(|fitting| fitting.first_eligible()).unwrap_or(0)
    }

    /// The virtual time that counts for one that a class has come to: real-time service may take it
    /// far ahead of its siblings, but no further than [`REACH`].
    pub fn within_reach(&self, virtual_time: u128) -> u128 {
        match self.is_active() {
            true => virtual_time.min(self.least + u128::from(REACH)),
            false => virtual_time,
        }
    }

    /// A class becomes active (`before` is `None`), stands elsewhere or becomes passive (`after` is
    /// `None`). Where it stands is [within reach](Self::within_reach).
    pub fn update(
        &mut self,
        place: u32,
        class: u32,
        before: Option<Standing>,
        after: Option<Standing>,
    ) {
        match after {
            Some(Standing { virtual_time, .. }) => {
                let is_first = !self.is_active();
                self.virtual_times.set(place as usize, virtual_time as Stamp, class);
                self.leave_behind(virtual_time);
                if is_first {
                    self.least = virtual_time;
                }
            }
            None => self.virtual_times.clear(place as usize),
        }
        if let Some((least, _)) = self.virtual_times.least() {
            self.least = whole(least, self.least);
        }
        if let Some(fitting) = &mut self.fitting {
            if let Some(Standing { virtual_time, .. }) = before {
                fitting.remove(virtual_time as Stamp, class);
            }
            if let Some(Standing { virtual_time, fit }) = after {
                fitting.insert(fit, virtual_time as Stamp, class);
            }
        }
    }

    /// A class that becomes passive has come to this virtual time.
    pub fn leave_behind(&mut self, virtual_time: u128) {
        self.greatest = self.greatest.max(virtual_time);
    }

    /// Bytes held.
    pub fn footprint(&self) -> usize {
        self.members.capacity() * size_of::<Option<u32>>()
            + self.free.capacity() * size_of::<u32>()
            + self.virtual_times.footprint()
            + self
                .fitting
                .as_ref()
                .map_or(0, |fitting| size_of::<EligibleSet>() + fitting.footprint())
    }
}
