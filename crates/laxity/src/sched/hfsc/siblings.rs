//! The classes below one parent, as link-sharing sees them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::queue::serial::{REACH, Stamp};
use crate::queue::{EligibleTree, Extremes};

/// The classes that share what their parent gets.
#[derive(Clone, Debug, Default)]
pub(super) struct Siblings {
    /// The class they are part of; `None` at the top.
    parent: Option<u32>,
    /// The class in every place; `None` in places that are free.
    members: Vec<Option<u32>>,
    free: Vec<u32>,
    /// Virtual times of the active ones, by place.
    virtual_times: Extremes,
    /// Once an upper limit holds for any of them or below.
    fitting: Option<Box<Fitting>>,
    /// The greatest virtual time that any of them ever had.
    greatest: u128,
}

/// Which classes their upper limits let be served.
#[derive(Clone, Debug)]
struct Fitting {
    /// The active ones with fit times for eligible times and virtual times for deadlines.
    active: EligibleTree,
    /// When each fits, by place; as long as it is active.
    fits: Vec<Stamp>,
}

/// When an active class may be served by link-sharing, and its virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    pub virtual_time: u128,
    /// When all upper limits on the way to some packet allow it.
    pub fit: Stamp,
}

impl Siblings {
    /// No classes yet below this one.
    pub(super) fn below(parent: u32) -> Self {
        Siblings { parent: Some(parent), ..Siblings::default() }
    }

    /// The class they are part of.
    pub(super) fn parent(&self) -> Option<u32> {
        self.parent
    }

    /// How many classes there are.
    pub(super) fn count(&self) -> usize {
        self.members.len() - self.free.len()
    }

    /// Adds a class, which is passive, and returns its place.
    pub(super) fn add(&mut self, class: u32) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.members[place as usize] = Some(class);
                place
            }
            None => {
                self.members.push(Some(class));
                self.virtual_times.grow(self.members.len());
                if let Some(fitting) = &mut self.fitting {
                    fitting.fits.push(0);
                }
                (self.members.len() - 1) as u32
            }
        }
    }

    /// Takes out a class, which is passive.
    pub(super) fn remove(&mut self, place: u32) {
        self.members[place as usize] = None;
        self.free.push(place);
    }

    /// Whether upper limits count here.
    pub(super) fn is_limited(&self) -> bool {
        self.fitting.is_some()
    }

    /// Makes upper limits count; all classes that are active fit.
    pub(super) fn limit(&mut self) {
        let mut active = EligibleTree::new();
        for (place, class) in self.members.iter().enumerate() {
            if let (Some(class), Some(virtual_time)) = (*class, self.virtual_times.time(place)) {
                active.insert(0, virtual_time as Stamp, class);
            }
        }
        let fits = alloc::vec![0; self.members.len()];
        self.fitting = Some(Box::new(Fitting { active, fits }));
    }

    /// When the active class in a place fits.
    pub(super) fn fit_of(&self, place: u32) -> Stamp {
        self.fitting.as_ref().map_or(0, |fitting| fitting.fits[place as usize])
    }

    /// Whether any class is active.
    pub(super) fn is_active(&self) -> bool {
        self.virtual_times.least().is_some()
    }

    /// The system virtual time: the mean of the least and the greatest virtual time of active
    /// classes. If there are none, the greatest that there ever was, so that no class is ahead of
    /// another for what lies before.
    pub(super) fn virtual_time(&self) -> u128 {
        match self.virtual_times.least() {
            Some((least, _)) => least + (self.virtual_times.greatest() - least) / 2,
            None => self.greatest,
        }
    }

    /// The virtual time of the class in a place, if it is active.
    pub(super) fn virtual_time_of(&self, place: u32) -> Option<u128> {
        self.virtual_times.time(place as usize)
    }

    /// The class with the least virtual time among those that fit by `now`; among equals the lowest
    /// number's.
    pub(super) fn least(&self, now: Stamp) -> Option<u32> {
        match &self.fitting {
            None => self.virtual_times.least().map(|(_, class)| class),
            Some(fitting) => fitting.active.least_deadline(now),
        }
    }

    /// When the first class fits; 0 where there are no limits.
    pub(super) fn first_fit(&self) -> Stamp {
        self.fitting.as_ref().and_then(|fitting| fitting.active.first_eligible()).unwrap_or(0)
    }

    /// The virtual time that counts for one that a class has come to: real-time service may take it
    /// far ahead of its siblings, but no further than [`REACH`].
    pub(super) fn within_reach(&self, virtual_time: u128) -> u128 {
        match self.virtual_times.least() {
            Some((least, _)) => virtual_time.min(least + u128::from(REACH)),
            None => virtual_time,
        }
    }

    /// A class becomes active or stands elsewhere, [within reach](Self::within_reach).
    pub(super) fn stand(
        &mut self,
        place: u32,
        class: u32,
        Standing { virtual_time, fit }: Standing,
    ) {
        let before = self.virtual_times.set(place as usize, virtual_time, class);
        self.leave_behind(virtual_time);
        if let Some(fitting) = &mut self.fitting {
            if let Some(before) = before {
                fitting.active.remove(before as Stamp, class);
            }
            fitting.active.insert(fit, virtual_time as Stamp, class);
            fitting.fits[place as usize] = fit;
        }
    }

    /// A class becomes passive.
    pub(super) fn leave(&mut self, place: u32, class: u32) {
        let before = self.virtual_times.clear(place as usize);
        if let (Some(fitting), Some(before)) = (&mut self.fitting, before) {
            fitting.active.remove(before as Stamp, class);
        }
    }

    /// A class that becomes passive has come to this virtual time.
    pub(super) fn leave_behind(&mut self, virtual_time: u128) {
        self.greatest = self.greatest.max(virtual_time);
    }

    /// Bytes held.
    pub(super) fn footprint(&self) -> usize {
        self.members.capacity() * size_of::<Option<u32>>()
            + self.free.capacity() * size_of::<u32>()
            + self.virtual_times.footprint()
            + self.fitting.as_ref().map_or(0, |fitting| {
                let fits = fitting.fits.capacity() * size_of::<Stamp>();
                size_of::<Fitting>() + fitting.active.footprint() + fits
            })
    }
}
