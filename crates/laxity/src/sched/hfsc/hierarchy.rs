//! The hierarchy of H-FSC, and how it changes while packets are queued.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{
    Class, ClassSpec, Curves, GroupId, Hfsc, Limit, RunningCurve, Siblings, State, TOP, stamp,
};
use crate::error::SetupError;
use crate::packet::ClassId;
use crate::queue::{EligibleSet, Fifos, SlotId};
use crate::sched::ancestry;
use crate::scheduler::Backlog;
use crate::units::Nanos;

impl Hfsc {
    /// A scheduler for these classes, numbered in their order. Classes without
    /// children are leaves and take packets; a parent may come after its children.
    ///
    /// # Errors
    /// If the classes make no hierarchy.
    pub fn new(classes: &[ClassSpec]) -> Result<Self, SetupError> {
        let parents: Vec<_> = classes.iter().map(|class| class.parent).collect();
        ancestry::check(&parents)?;
        let numbered = || (0..).map(ClassId).zip(classes);
        let mut hfsc = Hfsc {
            classes: classes.iter().map(Class::new).collect(),
            free: BTreeSet::new(),
            groups: alloc::vec![Siblings::default()],
            free_groups: Vec::new(),
            requests: EligibleSet::new(classes.len()),
            packets: Fifos::new(classes.len()),
            backlog: Backlog::default(),
        };
        for (number, class) in numbered() {
            let group = class.parent.map_or(TOP, |parent| hfsc.below(parent));
            hfsc.list(number, group);
        }
        for (number, class) in numbered() {
            let is_parent = hfsc.is_parent(&hfsc.classes[number.index()]);
            check_curves(number, &class.curves, is_parent)?;
            hfsc.limit_above(number);
        }
        Ok(hfsc)
    }

    /// Adds a leaf, under a class without queued packets, and returns its number: the lowest that
    /// is free.
    ///
    /// # Errors
    /// If it does not fit into the hierarchy.
    pub fn add(&mut self, class: ClassSpec) -> Result<ClassId, SetupError> {
        let number = self.free.first().copied().unwrap_or(ClassId(self.classes.len() as u32));
        check_curves(number, &class.curves, false)?;
        if let Some(parent) = class.parent {
            self.check_parent(parent)?;
        }
        let group = class.parent.map_or(TOP, |parent| self.below(parent));
        self.free.remove(&number);
        let class = Class::new(&class);
        match self.classes.get_mut(number.index()) {
            Some(place) => *place = class,
            None => self.classes.push(class),
        }
        self.packets.grow(self.classes.len());
        self.requests.grow(self.classes.len());
        self.list(number, group);
        self.limit_above(number);
        Ok(number)
    }

    /// Gives a class other curves from `now` on, as if it became active now with its present
    /// virtual time: service received counts, service owed under the old curves does not.
    ///
    /// The first upper limit among siblings takes time linear in their number.
    ///
    /// # Errors
    /// If there is no such class or it cannot have these curves.
    pub fn change(&mut self, now: Nanos, class: ClassId, curves: Curves) -> Result<(), SetupError> {
        check_curves(class, &curves, self.is_parent(self.open(class)?))?;
        self.change_real_time(now, class, &curves);
        self.change_upper_limit(now, class, &curves);
        self.change_link_share(now, class, &curves);
        Ok(())
    }

    /// Takes a class out. It takes no more packets; those that it holds are still sent, and with
    /// the last of them it is gone.
    ///
    /// # Errors
    /// If there is no such class or it has classes below it.
    pub fn remove(&mut self, class: ClassId) -> Result<(), SetupError> {
        if self.is_parent(self.open(class)?) {
            return Err(SetupError::HasChildren(class));
        }
        self.classes[class.index()].state = State::Closed;
        if self.packets.is_empty(class.index()) {
            self.release(class);
        }
        Ok(())
    }

    /// Whether there is such a class and it is a leaf.
    pub fn takes_packets(&self, class: ClassId) -> bool {
        self.open(class).is_ok_and(|class| !self.is_parent(class))
    }

    /// Forgets a class that is passive.
    pub(super) fn release(&mut self, number: ClassId) {
        let class = &mut self.classes[number.index()];
        class.state = State::Gone;
        let below = core::mem::replace(&mut class.below, TOP);
        if below != TOP {
            self.groups[below.index()] = Siblings::default();
            self.free_groups.push(below);
        }
        self.groups[class.group.index()].remove(class.slot);
        self.free.insert(number);
    }

    fn open(&self, class: ClassId) -> Result<&Class, SetupError> {
        let found = self.classes.get(class.index());
        found.filter(|found| found.state == State::Open).ok_or(SetupError::NoClass(class))
    }

    fn is_parent(&self, class: &Class) -> bool {
        class.below != TOP && self.groups[class.below.index()].count() > 0
    }

    fn check_parent(&self, parent: ClassId) -> Result<(), SetupError> {
        let class = self.open(parent)?;
        if class.real_time.is_some() {
            Err(SetupError::RealTimeAbove(parent))
        } else if !self.packets.is_empty(parent.index()) {
            Err(SetupError::HasPackets(parent))
        } else {
            Ok(())
        }
    }

    /// The group of the classes below this one.
    fn below(&mut self, class: ClassId) -> GroupId {
        let below = self.classes[class.index()].below;
        if below != TOP {
            return below;
        }
        let below = self.free_groups.pop().unwrap_or_else(|| {
            self.groups.push(Siblings::default());
            GroupId::from_index(self.groups.len() - 1)
        });
        self.groups[below.index()] = Siblings::below(class);
        self.classes[class.index()].below = below;
        below
    }

    fn list(&mut self, number: ClassId, group: GroupId) {
        let class = &mut self.classes[number.index()];
        (class.group, class.slot) = (group, self.groups[group.index()].add(number));
    }

    /// Makes an upper limit count among the class's siblings and those of all classes above it.
    fn limit_above(&mut self, number: ClassId) {
        if self.classes[number.index()].upper_limit.is_none() {
            return;
        }
        let mut at = Some(number);
        while let Some(number) = at {
            let class = &self.classes[number.index()];
            let siblings = &mut self.groups[class.group.index()];
            if siblings.is_limited() {
                return;
            }
            siblings.limit();
            at = siblings.parent();
        }
    }

    fn change_real_time(&mut self, now: Nanos, number: ClassId, curves: &Curves) {
        let class = &mut self.classes[number.index()];
        let head = self.packets.front(number.index()).map(|packet| packet.length);
        if class.real_time.is_some() && head.is_some() {
            self.requests.remove(SlotId(number.0));
        }
        class.real_time = curves.real_time.as_ref().map(RunningCurve::new);
        if let Some(length) = head {
            self.request_service(now, number, length);
        }
    }

    fn change_upper_limit(&mut self, now: Nanos, number: ClassId, curves: &Curves) {
        let now = u128::from(now.0);
        self.classes[number.index()].upper_limit = curves.upper_limit.as_ref().map(|curve| {
            let mut curve = RunningCurve::new(curve);
            curve.activate(now);
            Box::new(Limit { curve, fit: stamp(now) })
        });
        self.limit_above(number);
        self.refit(number);
    }

    fn change_link_share(&mut self, now: Nanos, number: ClassId, curves: &Curves) {
        let standing = self.virtual_time(number);
        let class = &mut self.classes[number.index()];
        let virtual_time = match (standing, &class.link_share) {
            (Some(virtual_time), _) => Some(virtual_time),
            (None, Some(curve)) => curve.was_active().then(|| curve.reached()),
            (None, None) => None,
        };
        class.link_share = curves.link_share.as_ref().map(|curve| {
            let mut curve = RunningCurve::new(curve);
            if let Some(time) = virtual_time {
                curve.activate(time);
            }
            curve
        });
        let (is_active, shares) = (standing.is_some(), class.link_share.is_some());
        if is_active && !shares {
            self.leave(number);
        } else if shares && !is_active && !self.packets.is_empty(number.index()) {
            self.join(now, number);
        }
    }

    /// A class leaves link-sharing, and so do the ancestors that have no other active child.
    pub(super) fn leave(&mut self, number: ClassId) {
        let mut at = number;
        loop {
            let class = &self.classes[at.index()];
            let siblings = &mut self.groups[class.group.index()];
            siblings.leave(class.slot, at);
            match siblings.parent() {
                Some(parent) if siblings.is_active() => return self.refit(parent),
                Some(parent) => at = parent,
                None => return,
            }
        }
    }
}

impl Class {
    fn new(spec: &ClassSpec) -> Self {
        let Curves { real_time, link_share, upper_limit } = &spec.curves;
        let limit = |curve| Box::new(Limit { curve: RunningCurve::new(curve), fit: 0 });
        Class {
            state: State::Open,
            group: TOP,
            slot: SlotId(0),
            below: TOP,
            real_time: real_time.as_ref().map(RunningCurve::new),
            deadline: 0,
            link_share: link_share.as_ref().map(RunningCurve::new),
            upper_limit: upper_limit.as_ref().map(limit),
        }
    }
}

fn check_curves(class: ClassId, curves: &Curves, is_parent: bool) -> Result<(), SetupError> {
    match curves {
        Curves { real_time: Some(_), .. } if is_parent => Err(SetupError::RealTimeAbove(class)),
        Curves { upper_limit: Some(_), link_share: None, .. } => Err(SetupError::LimitAlone(class)),
        Curves { real_time: None, link_share: None, .. } => Err(SetupError::NoCurve(class)),
        _ => Ok(()),
    }
}
