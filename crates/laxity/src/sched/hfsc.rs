//! Hierarchical fair service curves (Stoica, Zhang, Ng 2000).
//!
//! Every leaf has a real-time request with an eligible time and a deadline, every class a virtual
//! time. If a leaf is eligible, the one with the earliest deadline is served: the real-time
//! criterion. It keeps the leaves' service curves under any other traffic. Otherwise the class with
//! the smallest virtual time is followed from the root down to a leaf: the link-sharing criterion.
//! It gives every class its share of its parent's service, and distributes what siblings do not
//! use.
//!
//! As in the kernels that have H-FSC, the curves of the two criteria may differ, a leaf may have
//! only one of them, and an upper limit may hold link-sharing back.

mod explain;
mod hierarchy;
mod load;
mod running;
mod siblings;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::explain::Explain;
use crate::packet::{ClassId, FlowId, Packet};
use crate::queue::serial::Stamp;
use crate::queue::{EligibleSet, Fifos, Position, SlotId};
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Reach, Scheduler, Withdraw,
    by_place, turn_away,
};
use crate::service::ServiceCurve;
use crate::units::Nanos;
use running::RunningCurve;
use siblings::Siblings;

/// The curves of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Curves {
    /// The service that a leaf is guaranteed under any other traffic; leaves only.
    pub real_time: Option<ServiceCurve>,
    /// The class's share of its parent's service. Only a leaf with a real-time curve may go
    /// without.
    pub link_share: Option<ServiceCurve>,
    /// Upper limit of the service by link-sharing; needs `link_share`.
    pub upper_limit: Option<ServiceCurve>,
}

/// A class of the hierarchy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassSpec {
    /// The class it is part of; `None` at the top.
    pub parent: Option<ClassId>,
    /// Its curves.
    pub curves: Curves,
}

crate::id! {
    /// A group of [siblings](Siblings): the classes at the [`TOP`], or those below a class.
    struct GroupId;
}

/// The classes at the top of the hierarchy.
const TOP: GroupId = GroupId(0);

/// H-FSC. Ties are broken by the lowest class number.
///
/// Enqueueing and dequeueing a packet take logarithmic time in the number of classes at every level
/// of the hierarchy, however many become eligible at once.
#[derive(Clone, Debug)]
pub struct Hfsc {
    classes: Vec<Class>,
    /// Numbers of classes that are gone.
    free: BTreeSet<ClassId>,
    /// The first are those at the top.
    groups: Vec<Siblings>,
    free_groups: Vec<GroupId>,
    /// Eligible times and deadlines of the backlogged leaves. A leaf's slot is its class number.
    requests: EligibleSet,
    packets: Fifos<u32, Packet>,
    backlog: Backlog,
}

/// A cache line for the real-time curve and one for link-sharing.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Class {
    real_time: Option<RunningCurve>,
    /// The group that it is in, and its slot there.
    group: GroupId,
    slot: SlotId,
    /// The group of the classes below it; [`TOP`] for a class that has never had any.
    below: GroupId,
    state: State,
    /// Of the packet at the head; as long as there is one.
    deadline: Stamp,
    upper_limit: Option<Box<Limit>>,
    link_share: Option<RunningCurve>,
}

const _: () = assert!(size_of::<Class>() <= 128);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// Takes no more packets and goes with its last one.
    Closed,
    Gone,
}

#[derive(Clone, Debug)]
struct Limit {
    curve: RunningCurve,
    /// When the class's own limit, not that of any other class, lets it be served.
    fit: Stamp,
}

impl Scheduler for Hfsc {
    // Inlined, packets come and go in registers: one that was written in parts is not read whole.
    by_place!();

    #[inline(always)]
    fn dequeue(&mut self, now: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        let (leaf, criterion) = self.choose(now)?;
        if let Some(SlotId(next)) = self.requests.likely_next() {
            self.load_all(ClassId(next));
        }
        let (packet, next_length) = self.packets.pop(leaf.index())?;
        self.backlog.remove(packet.length);
        self.update_virtual_times(leaf, packet.length, next_length.is_some());
        let deadline = self.update_request(leaf, criterion, packet.length, next_length);
        if next_length.is_none() && self.classes[leaf.index()].state == State::Closed {
            self.release(leaf);
        }
        Some(Dispatch { packet, deadline: deadline.map(Nanos), criterion })
    }

    fn prefetch(&self, class: ClassId, _: FlowId, reach: Reach) {
        self.load(class, reach);
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        let top = &self.groups[TOP.index()];
        let by_link_sharing = top.is_active().then(|| top.first_fit());
        if by_link_sharing.is_some_and(|fit| fit <= now.0) {
            return Some(now);
        }
        let first = self.requests.first_eligible().into_iter().chain(by_link_sharing).min()?;
        Some(Nanos(first).max(now))
    }

    fn footprint(&self) -> usize {
        self.classes.capacity() * size_of::<Class>()
            + self.groups.capacity() * size_of::<Siblings>()
            + self.groups.iter().map(Siblings::footprint).sum::<usize>()
            + self.requests.footprint()
            + self.packets.footprint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Withdraw for Hfsc {
    #[inline(always)]
    fn place(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        if !self.takes_packets(packet.class) {
            return turn_away(packet, DropReason::NoClass, drops);
        }
        self.backlog.add(packet.length);
        let place = self.packets.push(packet.class.index(), packet.length, packet);
        if place.is_at_front() {
            self.request_service(now, packet.class, packet.length);
            self.join(now, packet.class);
        }
        Some(place)
    }

    /// A leaf that has a packet withdrawn was not served: its eligible and virtual times stay, and
    /// the deadline is that of the packet which is at its head then. Without one it is passive.
    fn withdraw(&mut self, _: Nanos, place: Place, _: u64, _: &mut dyn DropSink) -> Option<Packet> {
        let leaf = self.packets.get(place).class;
        let (packet, withdrawn) = self.packets.withdraw(leaf.index(), place)?;
        self.backlog.remove(packet.length);
        if let Position::Front(next_length) = withdrawn {
            self.replace_head(leaf, packet.length, next_length);
        }
        Some(packet)
    }
}

impl Hfsc {
    /// The leaf to serve, and why. A request that is granted is taken out.
    fn choose(&mut self, now: Nanos) -> Option<(ClassId, Criterion)> {
        let now = stamp(u128::from(now.0));
        if let Some(SlotId(leaf)) = self.requests.take_least_deadline(now) {
            return Some((ClassId(leaf), Criterion::RealTime));
        }
        let mut group = TOP;
        loop {
            let class = self.groups[group.index()].least(now)?;
            group = self.classes[class.index()].below;
            if group == TOP || !self.groups[group.index()].is_active() {
                return Some((class, Criterion::LinkSharing));
            }
        }
    }

    /// A leaf becomes backlogged with a packet of this length at its head: its deadline curve is
    /// updated (Eq. 7).
    fn request_service(&mut self, now: Nanos, leaf: ClassId, length: u32) {
        let class = &mut self.classes[leaf.index()];
        if let Some(curve) = &mut class.real_time {
            curve.activate(u128::from(now.0));
            class.request(&mut self.requests, leaf, length);
        }
    }

    /// A leaf's head packet was chosen. Only service by the real-time criterion counts for
    /// deadlines. Returns the packet's deadline.
    fn update_request(
        &mut self,
        leaf: ClassId,
        criterion: Criterion,
        length: u32,
        next_length: Option<u32>,
    ) -> Option<Stamp> {
        let class = &mut self.classes[leaf.index()];
        let curve = class.real_time.as_mut()?;
        let deadline = class.deadline;
        let is_granted = criterion == Criterion::RealTime;
        if is_granted {
            curve.serve(length);
        } else if next_length != Some(length) {
            self.requests.remove(SlotId(leaf.0));
        } else {
            return Some(deadline);
        }
        if let Some(next) = next_length {
            class.request(&mut self.requests, leaf, next);
        }
        Some(deadline)
    }

    /// A leaf's head packet, which was not served, makes way for another of this length or for
    /// none.
    fn replace_head(&mut self, leaf: ClassId, length: u32, next_length: Option<u32>) {
        let class = &mut self.classes[leaf.index()];
        if class.real_time.is_some() && next_length != Some(length) {
            self.requests.remove(SlotId(leaf.0));
            if let Some(next) = next_length {
                class.request(&mut self.requests, leaf, next);
            }
        }
        if next_length.is_some() {
            return;
        }
        if self.virtual_time(leaf).is_some() {
            self.leave(leaf);
        }
        if self.classes[leaf.index()].state == State::Closed {
            self.release(leaf);
        }
    }

    /// A class becomes active in link-sharing, and with it those above it that were not: virtual
    /// curves are updated (Eq. 12).
    fn join(&mut self, now: Nanos, class: ClassId) {
        let mut at = class;
        loop {
            let class = &mut self.classes[at.index()];
            let Some(curve) = &mut class.link_share else { return };
            let siblings = &self.groups[class.group.index()];
            let (parent_was_active, system) = (siblings.is_active(), siblings.virtual_time());
            let virtual_time = siblings.within_reach(curve.reached_from(system));
            curve.activate(system);
            if let Some(limit) = &mut class.upper_limit {
                let now = u128::from(now.0);
                limit.fit = stamp(limit.curve.reached_from(now));
                limit.curve.activate(now);
            }
            let fit = class.fit(&self.groups);
            self.stand(at, virtual_time, fit);
            match self.parent(at) {
                Some(parent) if !parent_was_active => at = parent,
                Some(parent) => return self.refit(parent),
                None => return,
            }
        }
    }

    /// A leaf was served by either criterion: virtual times move on from there to the root, and
    /// classes without a backlog become passive.
    fn update_virtual_times(&mut self, leaf: ClassId, length: u32, backlogged: bool) {
        let (mut at, mut active) = (leaf, backlogged);
        loop {
            let class = &mut self.classes[at.index()];
            if let Some(limit) = &mut class.upper_limit {
                limit.curve.serve(length);
                limit.fit = stamp(limit.curve.reached());
            }
            if let Some(curve) = &mut class.link_share {
                curve.serve(length);
                let siblings = &mut self.groups[class.group.index()];
                if siblings.virtual_time_of(class.slot).is_some() {
                    let virtual_time = siblings.within_reach(curve.reached());
                    if !active {
                        siblings.leave_behind(virtual_time);
                        siblings.leave(class.slot, at);
                    } else if siblings.is_limited() {
                        let fit = class.fit(&self.groups);
                        self.stand(at, virtual_time, fit);
                    } else {
                        siblings.stand(class.slot, at, virtual_time, 0);
                    }
                }
            }
            let siblings = &self.groups[self.classes[at.index()].group.index()];
            let Some(parent) = siblings.parent() else { return };
            (at, active) = (parent, siblings.is_active());
        }
    }

    /// Updates the fit times of a class and of its ancestors after a change below.
    fn refit(&mut self, class: ClassId) {
        let mut at = Some(class);
        while let Some(class) = at {
            let fit = self.classes[class.index()].fit(&self.groups);
            match self.virtual_time(class) {
                Some(virtual_time) if self.fit_of(class) != fit => {
                    self.stand(class, virtual_time, fit);
                }
                _ => return,
            }
            at = self.parent(class);
        }
    }

    fn stand(&mut self, number: ClassId, virtual_time: u128, fit: Stamp) {
        let class = &self.classes[number.index()];
        self.groups[class.group.index()].stand(class.slot, number, virtual_time, fit);
    }

    fn parent(&self, class: ClassId) -> Option<ClassId> {
        self.groups[self.classes[class.index()].group.index()].parent()
    }

    /// When a class that is active in link-sharing fits.
    fn fit_of(&self, class: ClassId) -> Stamp {
        let class = &self.classes[class.index()];
        self.groups[class.group.index()].fit_of(class.slot)
    }

    /// The virtual time of a class that is active in link-sharing.
    fn virtual_time(&self, class: ClassId) -> Option<u128> {
        let class = &self.classes[class.index()];
        self.groups[class.group.index()].virtual_time_of(class.slot)
    }
}

impl Class {
    /// Requests service of a head packet by the real-time curve, if the leaf has one.
    #[inline(always)]
    fn request(&mut self, requests: &mut EligibleSet, leaf: ClassId, length: u32) {
        let Some(curve) = &self.real_time else { return };
        self.deadline = stamp(curve.deadline(length));
        requests.insert(stamp(curve.eligible()), self.deadline, SlotId(leaf.0));
    }

    /// When its own upper limit and those below let it be served by link-sharing.
    fn fit(&self, groups: &[Siblings]) -> Stamp {
        let own = self.upper_limit.as_ref().map_or(0, |limit| limit.fit);
        match self.below {
            TOP => own,
            below => own.max(groups[below.index()].first_fit()),
        }
    }
}

/// Clamps a real time to 292 years.
fn stamp(time: u128) -> Stamp {
    time.min(i64::MAX as u128) as Stamp
}
