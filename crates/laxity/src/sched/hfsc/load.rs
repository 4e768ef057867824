//! Memory that is loaded before it is needed.

use super::{Class, Hfsc, State};
use crate::memory::prefetch;
use crate::packet::ClassId;
use crate::scheduler::Reach;

impl Hfsc {
    /// Loads what a packet of a leaf needs that comes soon.
    #[inline(always)]
    pub(super) fn load(&self, leaf: ClassId, reach: Reach) {
        let Some(class) = self.classes.get(leaf.index()) else { return };
        let siblings = || &self.groups[class.group.index()];
        match reach {
            Reach::Class => {
                class.load();
                self.packets.prefetch(leaf.index());
            }
            Reach::Scheduler => siblings().prefetch(),
            Reach::Queue => {
                let siblings = siblings();
                if class.state != State::Gone {
                    siblings.prefetch_virtual_time(class.slot);
                }
                if let Some(parent) = siblings.parent() {
                    self.classes[parent.index()].load();
                }
            }
        }
    }

    /// Loads all that serving a leaf needs.
    #[inline(always)]
    pub(super) fn load_all(&self, leaf: ClassId) {
        Reach::ALL.into_iter().for_each(|reach| self.load(leaf, reach));
    }
}

impl Class {
    /// Loads both of its cache lines.
    #[inline(always)]
    fn load(&self) {
        prefetch(&self.deadline);
        prefetch(&self.link_share);
    }
}
