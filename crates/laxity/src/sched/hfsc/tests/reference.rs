//! H-FSC as Figs. 5 to 7 of Stoica, Zhang and Ng (2000) have it: whole curves, exact numbers, and
//! every class looked at each time.

use std::collections::{BTreeMap, VecDeque};
use std::iter;
use std::mem;
use std::vec::Vec;

use super::known_curve::KnownCurve;
use crate::error::SetupError;
use crate::explain::Rule;
use crate::packet::{ClassId, Packet};
use crate::queue::serial::REACH;
use crate::sched::hfsc::{ClassSpec, Curves};
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Scheduler, Withdraw,
};
use crate::service::ServiceCurve;
use crate::units::Nanos;

/// All classes and everything they were served.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    /// By number; `None` where there is none.
    classes: Vec<Option<Class>>,
    /// The greatest virtual time that any child of a parent ever had.
    greatest: BTreeMap<Option<ClassId>, u128>,
}

#[derive(Clone, Debug)]
struct Class {
    parent: Option<ClassId>,
    curves: Curves,
    /// Whether it was removed while packets were queued.
    closed: bool,
    queue: VecDeque<Packet>,
    /// c: bytes served by the real-time criterion.
    by_real_time: u64,
    /// w: bytes served in all.
    served: u64,
    /// D.
    deadline_curve: Option<KnownCurve>,
    /// E.
    eligible_curve: Option<KnownCurve>,
    /// V.
    virtual_curve: Option<KnownCurve>,
    /// U.
    limit_curve: Option<KnownCurve>,
    /// d of the head packet.
    deadline: u128,
    /// e of the head packet.
    eligible: u128,
    /// v, while it takes part in link-sharing.
    virtual_time: u128,
    /// When its own upper limit lets it send.
    fit: u128,
}

impl Class {
    fn new(spec: ClassSpec) -> Self {
        Class {
            parent: spec.parent,
            curves: spec.curves,
            closed: false,
            queue: VecDeque::new(),
            by_real_time: 0,
            served: 0,
            deadline_curve: None,
            eligible_curve: None,
            virtual_curve: None,
            limit_curve: None,
            deadline: 0,
            eligible: 0,
            virtual_time: 0,
            fit: 0,
        }
    }

    fn set_deadline_curve(&mut self, curve: Option<KnownCurve>) {
        let service = self.curves.real_time;
        self.eligible_curve =
            curve.as_ref().zip(service).map(|(curve, service)| curve.eligible(service));
        self.deadline_curve = curve;
    }

    /// `update_ed` and `update_d` of Fig. 6, which differ in whether e may change: it does not
    /// where c does not.
    fn update_ed(&mut self) {
        if let (Some(head), Some(deadline), Some(eligible)) =
            (self.queue.front(), &self.deadline_curve, &self.eligible_curve)
        {
            self.deadline = real(deadline.inverse(self.by_real_time + u64::from(head.length)));
            self.eligible = real(eligible.inverse(self.by_real_time));
        }
    }

    /// The last lines of `update_v` of Fig. 7, and the same for the upper limit. From the least
    /// virtual time around, no class goes out of reach.
    fn update_v(&mut self, least: Option<u128>) {
        let inverse = |curve: &Option<KnownCurve>| {
            curve.as_ref().map_or(0, |curve| curve.inverse(self.served))
        };
        let furthest = least.map_or(u128::MAX, |least| least + u128::from(REACH));
        self.virtual_time = inverse(&self.virtual_curve).min(furthest);
        self.fit = real(inverse(&self.limit_curve));
    }

    fn is_real_time(&self) -> bool {
        self.curves.real_time.is_some() && !self.queue.is_empty()
    }
}

impl Reference {
    /// Of classes that make a hierarchy.
    pub(super) fn new(classes: &[ClassSpec]) -> Self {
        let classes = classes.iter().map(|&spec| Some(Class::new(spec))).collect();
        Reference { classes, greatest: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, spec: ClassSpec) -> Result<ClassId, SetupError> {
        let number = self.classes.iter().position(Option::is_none).unwrap_or(self.classes.len());
        let id = ClassId(number as u32);
        check(id, spec.curves, false)?;
        if let Some(parent) = spec.parent {
            let class = self.open(parent)?;
            check(parent, class.curves, true)?;
            if !class.queue.is_empty() {
                return Err(SetupError::HasPackets(parent));
            }
        }
        if number == self.classes.len() {
            self.classes.push(None);
        }
        self.classes[number] = Some(Class::new(spec));
        Ok(id)
    }

    pub(super) fn change(
        &mut self,
        now: Nanos,
        id: ClassId,
        curves: Curves,
    ) -> Result<(), SetupError> {
        self.open(id)?;
        check(id, curves, !self.is_leaf(id))?;
        let was_sharing = self.is_sharing(id);
        let class = self.class_mut(id);
        class.curves = curves;
        let fresh = |curve: Option<ServiceCurve>, from, amount| {
            curve.map(|curve| KnownCurve::new(curve, from, amount))
        };
        class.set_deadline_curve(fresh(curves.real_time, now.0.into(), class.by_real_time));
        let virtual_time = match &class.virtual_curve {
            Some(_) if was_sharing => Some(class.virtual_time),
            curve => curve.as_ref().map(|curve| curve.inverse(class.served)),
        };
        class.virtual_curve =
            virtual_time.and_then(|time| fresh(curves.link_share, time, class.served));
        class.limit_curve = fresh(curves.upper_limit, now.0.into(), class.served);
        class.update_ed();
        class.update_v(None);
        if !was_sharing {
            // A leaf that holds packets joins in.
            let queue = mem::take(&mut self.class_mut(id).queue);
            if !queue.is_empty() {
                self.wake(now, id);
            }
            self.class_mut(id).queue = queue;
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, id: ClassId) -> Result<(), SetupError> {
        self.open(id)?;
        if !self.is_leaf(id) {
            return Err(SetupError::HasChildren(id));
        }
        self.class_mut(id).closed = true;
        self.forget_if_empty(id);
        Ok(())
    }

    /// The virtual time of a class that takes part in link-sharing.
    pub(super) fn virtual_time(&self, id: ClassId) -> u128 {
        self.class(id).virtual_time
    }

    /// Whether a class takes part in link-sharing: a leaf with packets, or above such a leaf.
    pub(super) fn is_sharing(&self, id: ClassId) -> bool {
        let class = self.class(id);
        let is_active = !class.queue.is_empty() || self.sharing_children(Some(id)).next().is_some();
        class.curves.link_share.is_some() && is_active
    }

    /// Whether a dispatch is possible at `now`.
    pub(super) fn is_ready(&self, now: Nanos) -> bool {
        self.first_by_deadline(now).is_some() || self.first_by_virtual_time(now).is_some()
    }

    /// The first packet of each leaf.
    pub(super) fn first_packets(&self) -> impl Iterator<Item = Packet> {
        self.all().filter_map(|(_, class)| class.queue.front().copied())
    }

    /// The rule by which a packet is sent before those of another leaf.
    pub(super) fn precedence(&self, now: Nanos, sent: &Dispatch, waiting: ClassId) -> Rule {
        let leaf = self.class(waiting);
        if sent.criterion == Criterion::RealTime {
            let is_eligible = leaf.is_real_time() && leaf.eligible <= now.0.into();
            return if is_eligible { Rule::EarlierDeadline } else { Rule::RealTimeCurve };
        }
        if leaf.curves.link_share.is_none() {
            return Rule::EligibleTime;
        }
        let path = |leaf| iter::successors(Some(leaf), |id| self.class(*id).parent);
        let above: Vec<_> = path(sent.packet.class).map(|id| self.class(id).parent).collect();
        for id in path(waiting) {
            if self.class(id).fit > now.0.into() {
                return Rule::UpperLimit;
            }
            if above.contains(&self.class(id).parent) {
                break;
            }
        }
        Rule::VirtualTime
    }

    fn forget_if_empty(&mut self, id: ClassId) {
        let class = self.class(id);
        if class.closed && class.queue.is_empty() {
            self.classes[id.index()] = None;
            self.greatest.remove(&Some(id));
        }
    }

    fn class(&self, id: ClassId) -> &Class {
        self.classes[id.index()].as_ref().expect("the class is there")
    }

    fn class_mut(&mut self, id: ClassId) -> &mut Class {
        self.classes[id.index()].as_mut().expect("the class is there")
    }

    /// A class that was not removed.
    fn open(&self, id: ClassId) -> Result<&Class, SetupError> {
        let class = self.classes.get(id.index()).and_then(Option::as_ref);
        class.filter(|class| !class.closed).ok_or(SetupError::NoClass(id))
    }

    fn all(&self) -> impl Iterator<Item = (ClassId, &Class)> {
        let numbered = (0..).map(ClassId).zip(&self.classes);
        numbered.filter_map(|(id, class)| Some((id, class.as_ref()?)))
    }

    fn children(&self, parent: Option<ClassId>) -> impl Iterator<Item = ClassId> {
        self.all().filter(move |(_, class)| class.parent == parent).map(|(id, _)| id)
    }

    fn is_leaf(&self, id: ClassId) -> bool {
        self.children(Some(id)).next().is_none()
    }

    fn sharing_children(&self, parent: Option<ClassId>) -> impl Iterator<Item = ClassId> {
        self.children(parent).filter(|&child| self.is_sharing(child))
    }

    fn least_virtual_time(&self, parent: Option<ClassId>) -> Option<u128> {
        self.sharing_children(parent).map(|child| self.virtual_time(child)).min()
    }

    /// `(v_min + v_max)/2` over the children that share, or if there is none the greatest virtual
    /// time there ever was.
    fn system_virtual_time(&self, parent: Option<ClassId>) -> u128 {
        let times = || self.sharing_children(parent).map(|child| self.virtual_time(child));
        match (times().min(), times().max()) {
            (Some(least), Some(greatest)) => least + (greatest - least) / 2,
            _ => self.greatest.get(&parent).copied().unwrap_or(0),
        }
    }

    /// `update_v` of Fig. 7 for a class that begins to share: before its packet is in the queue.
    fn wake(&mut self, now: Nanos, id: ClassId) {
        let Some(service) = self.class(id).curves.link_share else { return };
        if self.is_sharing(id) {
            return;
        }
        let parent = self.class(id).parent;
        let (system, least) = (self.system_virtual_time(parent), self.least_virtual_time(parent));
        let class = self.class_mut(id);
        class.virtual_curve =
            Some(KnownCurve::renewed(class.virtual_curve.as_ref(), service, system, class.served));
        class.limit_curve = class.curves.upper_limit.map(|limit| {
            KnownCurve::renewed(class.limit_curve.as_ref(), limit, now.0.into(), class.served)
        });
        class.update_v(least);
        self.note_virtual_time(id);
        if let Some(parent) = parent {
            self.wake(now, parent);
        }
    }

    fn note_virtual_time(&mut self, id: ClassId) {
        let (parent, time) = (self.class(id).parent, self.virtual_time(id));
        let greatest = self.greatest.entry(parent).or_default();
        *greatest = time.max(*greatest);
    }

    /// When link-sharing may take something from a class: when its own limit and that of one of
    /// its children allow it.
    fn fit(&self, id: ClassId) -> u128 {
        let below = self.sharing_children(Some(id)).map(|child| self.fit(child)).min();
        self.class(id).fit.max(below.unwrap_or(0))
    }

    fn first_by_deadline(&self, now: Nanos) -> Option<ClassId> {
        let real_time = self.all().filter(|(_, class)| class.is_real_time());
        let eligible = real_time.filter(|(_, class)| class.eligible <= now.0.into());
        eligible.min_by_key(|(id, class)| (class.deadline, *id)).map(|(id, _)| id)
    }

    fn first_by_virtual_time(&self, now: Nanos) -> Option<ClassId> {
        let mut chosen = None;
        loop {
            let fit =
                self.sharing_children(chosen).filter(|&child| self.fit(child) <= now.0.into());
            match fit.min_by_key(|&child| (self.virtual_time(child), child)) {
                Some(child) => chosen = Some(child),
                None => return chosen,
            }
        }
    }
}

impl Scheduler for Reference {
    /// `receive_packet` of Fig. 5.
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        let id = packet.class;
        if self.open(id).is_err() || !self.is_leaf(id) {
            return drops.dropped(packet, DropReason::NoClass);
        }
        let was_passive = self.class(id).queue.is_empty();
        if was_passive {
            self.wake(now, id);
            let class = self.class_mut(id);
            let renewed = class.curves.real_time.map(|service| {
                let previous = class.deadline_curve.as_ref();
                KnownCurve::renewed(previous, service, now.0.into(), class.by_real_time)
            });
            class.set_deadline_curve(renewed);
        }
        self.class_mut(id).queue.push_back(packet);
        if was_passive {
            self.class_mut(id).update_ed();
        }
    }

    /// `get_packet` of Fig. 5.
    fn dequeue(&mut self, now: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        let (leaf, criterion) = match self.first_by_deadline(now) {
            Some(leaf) => (leaf, Criterion::RealTime),
            None => (self.first_by_virtual_time(now)?, Criterion::LinkSharing),
        };
        let class = self.class(leaf);
        let deadline = class.curves.real_time.map(|_| to_nanos(class.deadline));
        let mut next = Some(leaf);
        let path = iter::from_fn(|| {
            let id = next?;
            next = self.class(id).parent;
            Some((id, self.is_sharing(id), self.least_virtual_time(next)))
        });
        let path: Vec<_> = path.collect();
        let class = self.class_mut(leaf);
        let packet = class.queue.pop_front()?;
        if criterion == Criterion::RealTime {
            class.by_real_time += u64::from(packet.length);
        }
        class.update_ed();
        for (id, is_sharing, least) in path {
            let class = self.class_mut(id);
            class.served += u64::from(packet.length);
            if is_sharing {
                class.update_v(least);
                self.note_virtual_time(id);
            }
        }
        self.forget_if_empty(leaf);
        Some(Dispatch { packet, deadline, criterion })
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        let real_time = self.all().filter(|(_, class)| class.is_real_time());
        let eligible = real_time.map(|(_, class)| class.eligible);
        let fit = self.sharing_children(None).map(|id| self.fit(id));
        eligible.chain(fit).min().map(|ready| to_nanos(ready).max(now))
    }

    fn backlog(&self) -> Backlog {
        let mut backlog = Backlog::default();
        for (_, class) in self.all() {
            class.queue.iter().for_each(|packet| backlog.add(packet.length));
        }
        backlog
    }

    fn footprint(&self) -> usize {
        0
    }
}

/// A packet's place is its handle.
impl Withdraw for Reference {
    fn place(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        let before = self.backlog().packets;
        self.enqueue(now, packet, drops);
        (self.backlog().packets > before).then_some(Place(packet.handle as u32))
    }

    /// Neither c nor w changes.
    fn withdraw(
        &mut self,
        _: Nanos,
        _: Place,
        handle: u64,
        _: &mut dyn DropSink,
    ) -> Option<Packet> {
        let found = self.all().find_map(|(id, class)| {
            let at = class.queue.iter().position(|packet| packet.handle == handle)?;
            Some((id, at))
        });
        let (id, at) = found?;
        let class = self.class_mut(id);
        let packet = class.queue.remove(at)?;
        class.update_ed();
        self.forget_if_empty(id);
        Some(packet)
    }
}

/// Whether a leaf or an interior class may have these curves.
fn check(id: ClassId, curves: Curves, is_interior: bool) -> Result<(), SetupError> {
    if is_interior && curves.real_time.is_some() {
        return Err(SetupError::RealTimeAbove(id));
    }
    if curves.upper_limit.is_some() && curves.link_share.is_none() {
        return Err(SetupError::LimitAlone(id));
    }
    if curves.real_time.is_none() && curves.link_share.is_none() {
        return Err(SetupError::NoCurve(id));
    }
    Ok(())
}

fn to_nanos(time: u128) -> Nanos {
    Nanos(u64::try_from(time).expect("real times end before"))
}

/// What is beyond 292 years is there.
fn real(time: u128) -> u128 {
    time.min(i64::MAX as u128)
}
