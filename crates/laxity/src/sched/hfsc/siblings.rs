//! The classes below one parent, as link-sharing sees them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::memory::prefetch;
use crate::packet::ClassId;
use crate::queue::serial::{REACH, Stamp};
use crate::queue::{EligibleTree, Extremes, SlotId};

/// The classes that share the service of their parent.
#[derive(Clone, Debug, Default)]
pub(super) struct Siblings {
    /// The class they are part of; `None` at the top.
    parent: Option<ClassId>,
    /// The class in every slot; `None` in slots that are free.
    members: Vec<Option<ClassId>>,
    free: Vec<SlotId>,
    /// Virtual times of the active ones, by slot.
    virtual_times: Extremes,
    /// Once an upper limit holds for any of them or below.
    fitting: Option<Box<Fitting>>,
    /// The greatest virtual time that any of them ever had.
    greatest: u128,
}

/// Which classes their upper limits let be served.
#[derive(Clone, Debug)]
struct Fitting {
    /// The active ones with fit times for eligible times and virtual times for deadlines. A class
    /// has the slot of its number here.
    active: EligibleTree,
    /// When each fits, by slot; as long as it is active.
    fits: Vec<Stamp>,
}

impl Siblings {
    /// No classes yet below this one.
    pub(super) fn below(parent: ClassId) -> Self {
        Siblings { parent: Some(parent), ..Siblings::default() }
    }

    /// Prefetches what one that becomes active looks at.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        prefetch(&self.parent);
        prefetch(&self.greatest);
        self.virtual_times.prefetch();
    }

    /// The class they are part of.
    pub(super) fn parent(&self) -> Option<ClassId> {
        self.parent
    }

    /// How many classes there are.
    pub(super) fn count(&self) -> usize {
        self.members.len() - self.free.len()
    }

    /// Adds a class, which is passive, and returns its slot.
    pub(super) fn add(&mut self, class: ClassId) -> SlotId {
        match self.free.pop() {
            Some(slot) => {
                self.members[slot.index()] = Some(class);
                slot
            }
            None => {
                self.members.push(Some(class));
                self.virtual_times.grow(self.members.len());
                if let Some(fitting) = &mut self.fitting {
                    fitting.fits.push(0);
                }
                SlotId::from_index(self.members.len() - 1)
            }
        }
    }

    /// Takes out a class, which is passive.
    pub(super) fn remove(&mut self, slot: SlotId) {
        self.members[slot.index()] = None;
        self.free.push(slot);
    }

    /// Whether upper limits count here.
    pub(super) fn is_limited(&self) -> bool {
        self.fitting.is_some()
    }

    /// Makes upper limits count; all classes that are active fit.
    pub(super) fn limit(&mut self) {
        let mut active = EligibleTree::new();
        for (slot, class) in self.members.iter().enumerate() {
            if let (Some(class), Some(virtual_time)) = (*class, self.virtual_times.time(slot)) {
                active.insert(0, virtual_time as Stamp, SlotId(class.0));
            }
        }
        let fits = alloc::vec![0; self.members.len()];
        self.fitting = Some(Box::new(Fitting { active, fits }));
    }

    /// When the active class in a slot fits.
    pub(super) fn fit_of(&self, slot: SlotId) -> Stamp {
        self.fitting.as_ref().map_or(0, |fitting| fitting.fits[slot.index()])
    }

    /// Whether any class is active.
    pub(super) fn is_active(&self) -> bool {
        self.virtual_times.least().is_some()
    }

    /// The system virtual time: the mean of the least and the greatest virtual time of active
    /// classes. If there are none, the greatest ever, so that earlier service puts no class ahead
    /// of another.
    pub(super) fn virtual_time(&self) -> u128 {
        match self.virtual_times.least() {
            Some((least, _)) => least + (self.virtual_times.greatest() - least) / 2,
            None => self.greatest,
        }
    }

    /// The virtual time of the class in a slot, if it is active.
    pub(super) fn virtual_time_of(&self, slot: SlotId) -> Option<u128> {
        self.virtual_times.time(slot.index())
    }

    /// Prefetches the virtual time in a slot.
    #[inline(always)]
    pub(super) fn prefetch_virtual_time(&self, slot: SlotId) {
        self.virtual_times.prefetch_time(slot.index());
    }

    /// The class with the least virtual time among those that fit by `now`; among equals the lowest
    /// number's.
    pub(super) fn least(&self, now: Stamp) -> Option<ClassId> {
        match &self.fitting {
            None => self.virtual_times.least().map(|(_, class)| ClassId(class)),
            Some(fitting) => fitting.active.least_deadline(now).map(|SlotId(class)| ClassId(class)),
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

    /// A class becomes active or stands elsewhere, [within reach](Self::within_reach). It fits when
    /// all upper limits on the way to some packet allow it.
    pub(super) fn stand(&mut self, slot: SlotId, class: ClassId, virtual_time: u128, fit: Stamp) {
        let before = self.virtual_times.set(slot.index(), virtual_time, class.0);
        self.leave_behind(virtual_time);
        if let Some(fitting) = &mut self.fitting {
            if let Some(before) = before {
                fitting.active.remove(before as Stamp, SlotId(class.0));
            }
            fitting.active.insert(fit, virtual_time as Stamp, SlotId(class.0));
            fitting.fits[slot.index()] = fit;
        }
    }

    /// A class becomes passive.
    pub(super) fn leave(&mut self, slot: SlotId, class: ClassId) {
        let before = self.virtual_times.clear(slot.index());
        if let (Some(fitting), Some(before)) = (&mut self.fitting, before) {
            fitting.active.remove(before as Stamp, SlotId(class.0));
        }
    }

    /// A class that becomes passive has come to this virtual time.
    pub(super) fn leave_behind(&mut self, virtual_time: u128) {
        self.greatest = self.greatest.max(virtual_time);
    }

    /// Bytes held.
    pub(super) fn footprint(&self) -> usize {
        self.members.capacity() * size_of::<Option<ClassId>>()
            + self.free.capacity() * size_of::<SlotId>()
            + self.virtual_times.footprint()
            + self.fitting.as_ref().map_or(0, |fitting| {
                let fits = fitting.fits.capacity() * size_of::<Stamp>();
                size_of::<Fitting>() + fitting.active.footprint() + fits
            })
    }
}
