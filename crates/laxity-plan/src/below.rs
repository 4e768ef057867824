//! Schedulers below shares: plans whose classes hold a scheduler of their own, such as GPS over EDF
//! (Hei, Tsang 2001).

use laxity::admit::fair::Overbooked;
use laxity::admit::hierarchy::{self, Inside, Member};
use laxity::admit::{Traffic, Unbounded, delay_bound_of_all, edf};
use laxity::curve::Curve;
use laxity::packet::ClassId;
use laxity::sched::{Hierarchy, Leaf, Share};
use laxity::units::Nanos;

use crate::model::{Class, LinkSpec, Plan, SchedulerSpec};

/// What the classes below shares are guaranteed.
#[derive(Clone, Debug)]
pub struct Guarantees {
    /// Where the rates of the shares sum to more than there is, from the top down.
    pub overbooked: Vec<Overbooked>,
    /// The delay bound of every class of the plan.
    pub bounds: Vec<Result<Nanos, Unbounded>>,
    /// What EDF says inside each share that has it, by the number of the share's class.
    pub edf: Vec<(ClassId, edf::Admission)>,
}

/// A share of the link that has a scheduler to itself, and the plan as that sees it.
struct Below {
    /// The class that has the share.
    class: ClassId,
    /// Its number among the shares.
    share: ClassId,
    /// The share for a link, its classes numbered from 0.
    plan: Plan,
    /// The numbers of these classes in the whole plan.
    classes: Vec<ClassId>,
}

impl Plan {
    /// Whether any class holds a scheduler of its own.
    pub fn has_schedulers_below(&self) -> bool {
        self.classes.iter().any(|class| class.inside.is_some())
    }

    /// The hierarchy of schedulers; queues draw from `seed`.
    pub(crate) fn hierarchy(&self, seed: u64) -> Hierarchy {
        let (shares, below) = self.shares_and_below();
        let leaf = |below: Below| Leaf {
            share: below.share,
            longest: u32::try_from(below.plan.link.max_packet.0).unwrap_or(u32::MAX),
            scheduler: below
                .plan
                .scheduler(below.plan.scheduler, seed ^ u64::from(below.share.0 + 1) << 32),
            classes: below.classes,
        };
        Hierarchy::new(self.link.rate, &shares, below.into_iter().map(leaf).collect())
    }

    /// What the classes are guaranteed.
    pub fn guarantees_below(&self) -> Guarantees {
        let (shares, below) = self.shares_and_below();
        let mut members: Vec<_> = shares
            .iter()
            .map(|&share| Member { share, inside: Inside::Nothing { packet: Default::default() } })
            .collect();
        for Below { share, plan, .. } in &below {
            members[share.index()].inside = Inside::Nothing { packet: plan.link.max_packet };
        }
        let test = hierarchy::Hierarchy { rate: self.link.rate, members }.test();
        let mut guarantees = Guarantees {
            overbooked: test.overbooked,
            bounds: vec![Err(Unbounded::NoGuarantee); self.classes.len()],
            edf: Vec::new(),
        };
        for Below { class, share, mut plan, classes } in below {
            let inside = match &test.leaves[share.index()] {
                Err(why) => vec![Err(*why); classes.len()],
                Ok(guarantee) => {
                    plan.link.latency = guarantee.latency;
                    if let SchedulerSpec::Edf { best_effort, .. } = plan.scheduler {
                        guarantees.edf.push((class, plan.edf_admission(best_effort)));
                    }
                    plan.bounds_inside()
                }
            };
            for (class, bound) in classes.into_iter().zip(inside) {
                guarantees.bounds[class.index()] = bound;
            }
        }
        let upper = self.upper();
        for place in &mut guarantees.overbooked {
            place.class = place.class.map(|share| upper[share.index()]);
        }
        guarantees
    }

    /// The bounds of classes that have a share for a link: EDF's, or those of one queue.
    fn bounds_inside(&self) -> Vec<Result<Nanos, Unbounded>> {
        match self.scheduler {
            SchedulerSpec::Edf { .. } => self.bounds(self.scheduler),
            SchedulerSpec::Fifo => {
                let traffic: Vec<Traffic> =
                    self.leaves().map(|(_, class)| self.traffic(class)).collect();
                let arrivals = traffic.iter().map(|traffic| &traffic.arrival[..]);
                let line = Curve::line(self.link.rate);
                let bound = delay_bound_of_all(arrivals, &line, self.link.latency);
                let of = |class: &Class| match class.is_leaf() {
                    true => bound,
                    false => Err(Unbounded::NoGuarantee),
                };
                self.classes.iter().map(of).collect()
            }
            _ => vec![Err(Unbounded::NoGuarantee); self.classes.len()],
        }
    }

    /// Whether a class has a share of the link or of the class above it, rather than a place in the
    /// scheduler of one above.
    pub fn has_share(&self, id: ClassId) -> bool {
        let up = |id: &ClassId| self.classes[id.index()].parent;
        let mut above = std::iter::successors(self.classes[id.index()].parent, up);
        above.all(|id| self.classes[id.index()].inside.is_none())
    }

    /// Where a class's packets wait beside others: the share whose scheduler they are in, if it is not
    /// the link's, and that scheduler.
    pub(crate) fn queued_at(&self, id: ClassId) -> (Option<ClassId>, SchedulerSpec) {
        if self.scheduler != SchedulerSpec::Wf2q || !self.has_schedulers_below() {
            return (None, self.scheduler);
        }
        let up = |id: &ClassId| self.classes[id.index()].parent;
        let mut ways = std::iter::successors(Some(id), up);
        let share = ways.find(|&id| self.has_share(id)).unwrap_or(id);
        (Some(share), self.classes[share.index()].inside.unwrap_or_default().scheduler)
    }

    /// The classes that are shares.
    fn upper(&self) -> Vec<ClassId> {
        (0..self.classes.len() as u32).map(ClassId).filter(|&id| self.has_share(id)).collect()
    }

    fn shares_and_below(&self) -> (Vec<Share>, Vec<Below>) {
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
        let below = numbered.map(|(share, &class)| self.below(class, share, &shares)).collect();
        (shares, below)
    }

    /// The plan as the scheduler of a class sees it.
    fn below(&self, id: ClassId, share: ClassId, shares: &[Share]) -> Below {
        let class = &self.classes[id.index()];
        let mut classes = if class.is_leaf() { vec![id] } else { class.children.clone() };
        let mut next = 0;
        while let Some(one) = classes.get(next) {
            classes.extend(&self.classes[one.index()].children);
            next += 1;
        }
        classes.sort_unstable();
        let local = |id: ClassId| classes.binary_search(&id).ok().map(|at| ClassId(at as u32));
        let inner = |id: &ClassId| {
            let class = &self.classes[id.index()];
            Class {
                parent: class.parent.and_then(local),
                children: class.children.iter().copied().filter_map(local).collect(),
                inside: None,
                ..class.clone()
            }
        };
        let leaves = classes.iter().map(|id| &self.classes[id.index()]).filter(|c| c.is_leaf());
        let link = LinkSpec {
            rate: shares[share.index()].rate,
            max_packet: leaves.map(|class| self.max_packet(class)).max().unwrap_or_default(),
            ..self.link.clone()
        };
        let inside = class.inside.unwrap_or_default();
        let plan = Plan {
            title: None,
            network: None,
            scheduler: inside.scheduler,
            queue: inside.queue.map(|queue| queue.on(&link)),
            classes: classes.iter().map(inner).collect(),
            sources: Vec::new(),
            run: self.run,
            link,
        };
        Below { class: id, share, plan, classes }
    }
}
