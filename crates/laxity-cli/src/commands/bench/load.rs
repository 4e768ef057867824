//! The loads under which disciplines are measured.

use laxity::scheduler::Scheduler;
use laxity::units::{Nanos, Rate};

use super::by_pointer::ByPointer;
use super::timing::{Mode, shuffled};
use super::{natural, uniform};
use crate::args::Load;

/// A load, and the number of classes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Under {
    pub load: Load,
    pub classes: u32,
    pub mode: Mode,
    pub by_pointer: bool,
}

impl Under {
    /// The median ns for one packet in and one packet out, sent or dropped.
    pub(super) fn measure<S: Scheduler>(self, scheduler: S) -> f64 {
        let Under { load, classes, mode, by_pointer } = self;
        match (load, by_pointer) {
            (Load::Uniform, false) => uniform::schedule(scheduler, classes, mode),
            (Load::Uniform, true) => uniform::schedule(ByPointer::new(scheduler), classes, mode),
            (Load::Natural, false) => natural::schedule(scheduler, classes, mode),
            (Load::Natural, true) => natural::schedule(ByPointer::new(scheduler), classes, mode),
            #[cfg(target_os = "linux")]
            (Load::Watched, _) => {
                super::longest::perform(scheduler, classes);
                f64::NAN
            }
            #[cfg(not(target_os = "linux"))]
            (Load::Watched, _) => f64::NAN,
        }
    }

    /// The link's rate.
    pub(super) fn link(self) -> Rate {
        match self.load {
            Load::Uniform => uniform::LINK,
            Load::Natural | Load::Watched => natural::LINK,
        }
    }

    /// What each class has of the link by its weight, in class order.
    pub(super) fn rates(self) -> impl Iterator<Item = Rate> {
        let weights = self.weights();
        let sum: u128 = weights.iter().copied().map(u128::from).sum();
        let link = u128::from(self.link().0);
        weights
            .into_iter()
            .map(move |weight| Rate(((link * u128::from(weight) / sum) as u64).max(1)))
    }

    /// The classes' weights.
    pub(super) fn weights(self) -> Vec<u32> {
        match self.load {
            Load::Uniform => (0..self.classes).map(|class| 1 + class % 7).collect(),
            Load::Natural | Load::Watched => natural::weights(self.classes),
        }
    }
}

/// A deadline of its own for every class, from 10 ms to 1 s in random order.
pub(super) fn deadlines(classes: u32) -> Vec<Nanos> {
    let step = 990_000_000 / u64::from(classes);
    shuffled(classes).into_iter().map(|place| Nanos(10_000_000 + u64::from(place) * step)).collect()
}
