//! Schedulers inside shares: plans whose classes hold a scheduler of their own.
//!
//! An example is GPS over EDF (Hei, Tsang 2001).

use laxity::admit::fair::Overbooking;
use laxity::admit::hierarchy::{self, Inside, Member};
use laxity::admit::{Breakdown, Unbounded, edf};
use laxity::packet::ClassId;
use laxity::sched::{Hierarchy, Leaf, Share};
use laxity::scheduler::Scheduler;
use laxity::units::{Bytes, Nanos, Rate};

use crate::discipline::Holders;
use crate::model::{Class, LinkSpec, Plan, SchedulerSpec};

/// What the classes inside shares are guaranteed.
#[derive(Clone, Debug)]
pub struct Guarantees {
    /// Where the rates of the shares sum to more than there is, from the top down.
    pub overbooked: Vec<Overbooking>,
    /// The delay bound of every class of the plan.
    pub bounds: Vec<Result<Nanos, Unbounded>>,
    /// What EDF says inside each share that has it, by the number of the share's class.
    pub edf: Vec<(ClassId, edf::Admission)>,
}

/// The link's shares and the schedulers inside them. These are built from it, and what they
/// guarantee is proved from it.
struct Nesting {
    shares: Vec<Share>,
    /// Where their rates sum to more than there is, from the top down.
    overbooked: Vec<Overbooking>,
    inner: Vec<InnerPlan>,
    /// The shares as their test sees them.
    test: hierarchy::Hierarchy,
}

/// A share of the link that has a scheduler to itself, and the plan as that sees it.
struct InnerPlan {
    /// The class that has the share.
    class: ClassId,
    /// Its number among the shares.
    share: ClassId,
    /// The share for a link, as late as it may be; its classes numbered from 0.
    plan: Plan,
    /// The numbers of these classes in the whole plan.
    classes: Vec<ClassId>,
}

impl Plan {
    /// Whether any class holds a scheduler of its own.
    pub fn has_inner_schedulers(&self) -> bool {
        self.classes.iter().any(|class| class.inside.is_some())
    }

    /// Whether its link is shared among such schedulers.
    pub fn is_hierarchy_of_schedulers(&self) -> bool {
        self.scheduler.room().holders == Holders::Shares && self.has_inner_schedulers()
    }

    /// Whether a class is a leaf whose own scheduler orders its flows, below a discipline without
    /// shares.
    pub fn orders_own_flows(&self, class: &Class) -> bool {
        let inside = class.inside.as_ref().filter(|_| class.is_leaf());
        self.scheduler.room().holders == Holders::Leaves
            && inside.is_some_and(|inside| inside.scheduler.room().orders_flows)
    }

    /// What is proved of classes that are queues in the order of arrival, for those that are.
    pub(crate) fn of_queues<T>(
        &self,
        mut proved: Vec<Result<T, Unbounded>>,
    ) -> Vec<Result<T, Unbounded>> {
        for (proved, class) in proved.iter_mut().zip(&self.classes) {
            if self.orders_own_flows(class) {
                *proved = Err(Unbounded::NoGuarantee);
            }
        }
        proved
    }

    /// The schedulers of leaves that [order their own flows](Self::orders_own_flows), which draw
    /// from `seed`.
    pub(crate) fn leaf_schedulers(&self, seed: u64) -> Vec<(ClassId, Box<dyn Scheduler + Send>)> {
        let holders = self.leaves().filter(|(_, class)| self.orders_own_flows(class));
        let holders: Vec<ClassId> = holders.map(|(id, _)| id).collect();
        let shares = if holders.is_empty() { Vec::new() } else { self.wf2q_shares() };
        let scheduler = |id: ClassId| {
            let InnerPlan { plan, .. } = self.inner_plan(id, id, &shares);
            (id, plan.build_scheduler(seed ^ u64::from(id.0 + 1) << 32))
        };
        holders.into_iter().map(scheduler).collect()
    }

    /// The hierarchy of schedulers; queues draw from `seed`.
    pub(crate) fn hierarchy(&self, seed: u64) -> Hierarchy {
        self.nested().hierarchy(self.link.rate, seed)
    }

    /// What the classes are guaranteed.
    pub fn inner_guarantees(&self) -> Guarantees {
        let Nesting { overbooked, inner, .. } = self.nested();
        let mut guarantees = Guarantees {
            overbooked,
            bounds: vec![Err(Unbounded::NoGuarantee); self.classes.len()],
            edf: Vec::new(),
        };
        for InnerPlan { class, plan, classes, .. } in inner {
            let inside = match (plan.link.latency, plan.scheduler.room().proof.in_share) {
                (None, _) => vec![Err(Unbounded::NotAdmitted); classes.len()],
                (Some(_), Some(bounds)) => bounds(&plan),
                (Some(_), None) => vec![Err(Unbounded::NoGuarantee); classes.len()],
            };
            if let (Some(_), SchedulerSpec::Edf(edf)) = (plan.link.latency, plan.scheduler) {
                guarantees.edf.push((class, plan.edf_admission(edf.best_effort)));
            }
            for (class, bound) in classes.into_iter().zip(inside) {
                guarantees.bounds[class.index()] = bound;
            }
        }
        guarantees
    }

    /// What the bound of a class inside a share is made of, if it has one.
    pub(crate) fn inner_breakdown(&self, class: ClassId) -> Option<Breakdown> {
        let Nesting { inner, test, .. } = self.nested();
        let holds = |inner: &InnerPlan| inner.classes.binary_search(&class).ok();
        let (inner, place) = inner.iter().find_map(|inner| Some((inner, holds(inner)?)))?;
        let local = ClassId(place as u32);
        let inside = inner.plan.scheduler.discipline().breakdown(&inner.plan, local)?;
        let upper = self.upper();
        let latency = test.latency_breakdown(inner.share.index())?;
        let latency = latency.renumbered(|share| upper[share.index()]);
        let inside = inside.renumbered(|local| inner.classes[local.index()]);
        Some(inside.at_link(self.link.rate).with_latency(&latency))
    }

    /// Whether a class has a share of the link or of the class above it, rather than a place in the
    /// scheduler of one above.
    pub fn has_share(&self, id: ClassId) -> bool {
        let up = |id: &ClassId| self.classes[id.index()].parent;
        let mut above = std::iter::successors(self.classes[id.index()].parent, up);
        above.all(|id| self.classes[id.index()].inside.is_none())
    }

    /// Where a class's packets wait beside others: the share whose scheduler they are in, if it is
    /// not the link's, and that scheduler.
    pub(crate) fn queued_at(&self, id: ClassId) -> (Option<ClassId>, SchedulerSpec) {
        self.queued_under(self.scheduler, id)
    }

    /// The same where another scheduler is the link's.
    pub(crate) fn queued_under(
        &self,
        scheduler: SchedulerSpec,
        id: ClassId,
    ) -> (Option<ClassId>, SchedulerSpec) {
        if scheduler.room().holders != Holders::Shares || !self.has_inner_schedulers() {
            return (None, scheduler);
        }
        let up = |id: &ClassId| self.classes[id.index()].parent;
        let mut ways = std::iter::successors(Some(id), up);
        let share = ways.find(|&id| self.has_share(id)).unwrap_or(id);
        (Some(share), self.classes[share.index()].scheduling().scheduler)
    }

    /// The classes that are shares.
    fn upper(&self) -> Vec<ClassId> {
        (0..self.classes.len() as u32).map(ClassId).filter(|&id| self.has_share(id)).collect()
    }

    /// The plan's shares, what they are sure of, and what is inside them.
    fn nested(&self) -> Nesting {
        let (upper, all) = (self.upper(), self.wf2q_shares());
        let mut numbers = vec![None; self.classes.len()];
        for (number, class) in (0..).map(ClassId).zip(&upper) {
            numbers[class.index()] = Some(number);
        }
        let share = |class: &ClassId| {
            let Share { parent, rate } = all[class.index()];
            Share { parent: parent.and_then(|parent| numbers[parent.index()]), rate }
        };
        let shares: Vec<Share> = upper.iter().map(share).collect();
        let has_scheduler = |class: &ClassId| {
            let class = &self.classes[class.index()];
            class.inside.is_some() || class.is_leaf()
        };
        let numbered = (0..).map(ClassId).zip(&upper).filter(|(_, class)| has_scheduler(class));
        let mut inner: Vec<_> =
            numbered.map(|(share, &class)| self.inner_plan(class, share, &shares)).collect();
        let member =
            |&share: &Share| Member { share, inside: Inside::Nothing { packet: Bytes(0) } };
        let mut members: Vec<_> = shares.iter().map(member).collect();
        for InnerPlan { share, plan, .. } in &inner {
            members[share.index()].inside = Inside::Nothing { packet: plan.link.max_packet };
        }
        let test = hierarchy::Hierarchy { rate: self.link.rate, members };
        let mut tested = test.test();
        for InnerPlan { share, plan, .. } in &mut inner {
            let guarantee = tested.leaves[share.index()].as_ref();
            plan.link.latency = guarantee.ok().map(|guarantee| guarantee.latency);
        }
        for place in &mut tested.overbooked {
            place.class = place.class.map(|share| upper[share.index()]);
        }
        Nesting { shares, overbooked: tested.overbooked, inner, test }
    }

    /// The plan as the scheduler of a class sees it that is not sure of anything.
    fn inner_plan(&self, id: ClassId, share: ClassId, shares: &[Share]) -> InnerPlan {
        let class = &self.classes[id.index()];
        let mut classes = if class.is_leaf() { vec![id] } else { class.children.clone() };
        let mut next = 0;
        while let Some(one) = classes.get(next) {
            classes.extend(&self.classes[one.index()].children);
            next += 1;
        }
        classes.sort_unstable();
        let local = |id: ClassId| classes.binary_search(&id).ok().map(|at| ClassId(at as u32));
        let leaves = classes.iter().map(|id| &self.classes[id.index()]).filter(|c| c.is_leaf());
        let link = LinkSpec {
            rate: shares[share.index()].rate,
            max_packet: leaves.map(|class| self.max_packet(class)).max().unwrap_or_default(),
            latency: None,
            // The bounds of the whole plan count it, once.
            stall: Nanos::ZERO,
            trace: None,
            autorate: None,
            threads: None,
            ..self.link.clone()
        };
        let local_class = |id: &ClassId| {
            let class = &self.classes[id.index()];
            Class {
                parent: class.parent.and_then(local),
                children: class.children.iter().copied().filter_map(local).collect(),
                inside: None,
                ..class.clone()
            }
        };
        let plan = self.inner(link, class.scheduling(), classes.iter().map(local_class).collect());
        InnerPlan { class: id, share, plan, classes }
    }
}

impl Nesting {
    /// The schedulers on a link of this rate; queues draw from `seed`.
    fn hierarchy(self, rate: Rate, seed: u64) -> Hierarchy {
        let leaf = |InnerPlan { share, plan, classes, .. }: InnerPlan| Leaf {
            share,
            longest: u32::try_from(plan.link.max_packet.0).unwrap_or(u32::MAX),
            scheduler: plan.build_scheduler(seed ^ u64::from(share.0 + 1) << 32),
            classes,
        };
        let leaves = self.inner.into_iter().map(leaf).collect();
        Hierarchy::new(rate, &self.shares, leaves).expect("a leaf for each class with a scheduler")
    }
}

#[cfg(test)]
mod tests;
