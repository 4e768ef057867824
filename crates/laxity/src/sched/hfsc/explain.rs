//! Why a packet waits under H-FSC.

use super::{Hfsc, stamp};
use crate::explain::{Explain, Rule, VirtualTimes};
use crate::packet::{ClassId, Packet};
use crate::scheduler::{Criterion, Dispatch};
use crate::units::Nanos;

impl Hfsc {
    /// A class, the class above it, and so on to the top.
    fn path(&self, class: ClassId) -> impl Iterator<Item = ClassId> {
        core::iter::successors(Some(class), |class| self.parent(*class))
    }

    /// Of the classes above a leaf, or of itself, the one that is in the same group as a class
    /// above another leaf, or as that.
    fn sibling(&self, leaf: ClassId, other: ClassId) -> Option<ClassId> {
        let group = |class: ClassId| self.classes[class.index()].group;
        self.path(leaf).find(|class| self.path(other).any(|other| group(other) == group(*class)))
    }

    /// Whether an upper limit holds back a leaf, or a class above it up to this one.
    fn is_limited(&self, now: Nanos, leaf: ClassId, top: ClassId) -> bool {
        let mut below = self.path(leaf).take_while(|class| *class != top).chain([top]);
        below.any(|class| {
            let limit = &self.classes[class.index()].upper_limit;
            limit.as_ref().is_some_and(|limit| limit.fit > stamp(now.0.into()))
        })
    }
}

impl Explain for Hfsc {
    fn precedence(&self, now: Nanos, sent: &Dispatch, waiting: &Packet) -> Rule {
        let leaf = &self.classes[waiting.class.index()];
        if sent.criterion == Criterion::RealTime {
            let is_eligible =
                leaf.real_time.as_ref().is_some_and(|curve| curve.eligible() <= now.0.into());
            let is_due = is_eligible && sent.deadline.is_some();
            return if is_due { Rule::EarlierDeadline } else { Rule::RealTimeCurve };
        }
        match self.sibling(waiting.class, sent.packet.class) {
            _ if leaf.link_share.is_none() => Rule::EligibleTime,
            Some(sibling) if self.is_limited(now, waiting.class, sibling) => Rule::UpperLimit,
            _ => Rule::VirtualTime,
        }
    }

    fn hold(&self, _: Nanos, waiting: &Packet) -> Rule {
        let shares = self.classes[waiting.class.index()].link_share.is_some();
        if shares { Rule::UpperLimit } else { Rule::EligibleTime }
    }

    fn virtual_times(&self) -> Option<&dyn VirtualTimes> {
        Some(self)
    }
}

impl VirtualTimes for Hfsc {
    fn virtual_time(&self, class: ClassId) -> Option<u128> {
        let is_known = class.index() < self.classes.len();
        is_known.then(|| Hfsc::virtual_time(self, class))?
    }
}
