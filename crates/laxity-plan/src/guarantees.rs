//! What a plan's classes are guaranteed: the questions that admission tests are asked about it.

use laxity::admit::dwcs::{self, Windowed};
use laxity::admit::fair::{Hierarchy, Member, Turn, Weighted, drr, wfq};
use laxity::admit::{Traffic, Unbounded, edf, hfsc};
use laxity::packet::ClassId;
use laxity::port::Promise;
use laxity::sched::dwcs::{Settings, Streams};
use laxity::units::{Bytes, Nanos};

use crate::model::{Class, Plan, SchedulerSpec};

impl Plan {
    /// The plan as H-FSC's admission test sees it.
    pub fn hfsc_system(&self) -> hfsc::System {
        let class = |(spec, class)| hfsc::Class { spec, traffic: self.traffic(class) };
        let classes = self.hfsc_classes().into_iter().zip(&self.classes).map(class);
        hfsc::System { rate: self.link.rate, classes: classes.collect() }
    }

    /// The plan as WF2Q+'s admission test sees it.
    pub fn wf2q_hierarchy(&self) -> Hierarchy {
        let member = |(share, class)| Member { share, traffic: self.traffic(class) };
        let classes = self.wf2q_shares().into_iter().zip(&self.classes).map(member);
        Hierarchy { rate: self.link.rate, classes: classes.collect() }
    }

    /// What every class is promised under a scheduler: its deadline, and where the scheduler's
    /// admission test proves one, its bound.
    pub fn promises(&self, spec: SchedulerSpec) -> Vec<Promise> {
        let promise = |(class, bound): (&Class, Result<Nanos, Unbounded>)| Promise {
            deadline: class.deadline,
            bound: bound.ok(),
        };
        self.classes.iter().zip(self.bounds(spec)).map(promise).collect()
    }

    /// The delay bound of every class under a scheduler.
    pub fn bounds(&self, spec: SchedulerSpec) -> Vec<Result<Nanos, Unbounded>> {
        match spec {
            SchedulerSpec::Fifo | SchedulerSpec::Dwcs(_) | SchedulerSpec::Tdp(_) => {
                vec![Err(Unbounded::NoGuarantee); self.classes.len()]
            }
            SchedulerSpec::Wfq => self.wfq_bounds(),
            SchedulerSpec::Drr => self.drr_bounds(),
            SchedulerSpec::Wf2q if self.has_schedulers_below() => self.guarantees_below().bounds,
            SchedulerSpec::Wf2q => self.wf2q_hierarchy().test().bounds,
            SchedulerSpec::Hfsc => self.hfsc_system().test().bounds,
            SchedulerSpec::Edf { best_effort, .. } => {
                self.edf_bounds(&self.edf_admission(best_effort))
            }
        }
    }

    /// The answer of DWCS's admission test.
    pub fn dwcs_admission(&self, settings: Settings) -> dwcs::Admission {
        let windowed = |(streams, class): (Streams, &Class)| Windowed {
            streams,
            packet: if class.is_leaf() { self.max_packet(class) } else { Bytes(0) },
        };
        let classes: Vec<_> =
            self.dwcs_streams().into_iter().zip(&self.classes).map(windowed).collect();
        dwcs::dwcs(self.link.rate, &settings, &classes)
    }

    /// Whether a scheduler is proved to keep the consecutive windows of all streams as long as these are in
    /// step: their first packets come whole gaps apart and every other comes before its predecessor is
    /// due. That can be said of streams with both `gap` and `loss` only, and not where packets may be
    /// dropped that are not late.
    pub fn keeps_windows(&self, spec: SchedulerSpec) -> bool {
        let SchedulerSpec::Dwcs(settings) = spec else { return false };
        let is_watched =
            |class: &Class| class.gap.and(class.loss).is_some() && !self.drops_in_time(class);
        let is_watched = |class: &Class| class.due_within().is_none() || is_watched(class);
        self.classes.iter().all(is_watched) && self.dwcs_admission(settings).proof.is_ok()
    }

    /// The delay bound of every class by the answer of EDF's test. A class without `arrival` has
    /// none: the test only assumes what it sends.
    pub fn edf_bounds(&self, admission: &edf::Admission) -> Vec<Result<Nanos, Unbounded>> {
        let mut bounds = vec![Err(Unbounded::NoGuarantee); self.classes.len()];
        for (class, guarantee) in self.real_time_classes().into_iter().zip(&admission.classes) {
            bounds[class] = match &self.classes[class].arrival {
                Some(_) => guarantee.bound.ok_or(Unbounded::NotAdmitted),
                None => Err(Unbounded::NoArrival),
            };
        }
        bounds
    }

    fn wfq_bounds(&self) -> Vec<Result<Nanos, Unbounded>> {
        let weights = self.flat_weights();
        let weighted = |(id, class): (ClassId, &Class)| Weighted {
            weight: weights[id.index()],
            traffic: self.traffic(class),
        };
        self.of_leaves(wfq(self.link.rate, &self.leaves().map(weighted).collect::<Vec<_>>()))
    }

    fn drr_bounds(&self) -> Vec<Result<Nanos, Unbounded>> {
        let quanta = self.drr_quanta();
        let turn = |(id, class): (ClassId, &Class)| Turn {
            quantum: quanta[id.index()],
            traffic: self.traffic(class),
        };
        self.of_leaves(drr(self.link.rate, &self.leaves().map(turn).collect::<Vec<_>>()))
    }

    /// The bounds of the leaves, in their order, among those of all classes.
    fn of_leaves(&self, leaves: Vec<Result<Nanos, Unbounded>>) -> Vec<Result<Nanos, Unbounded>> {
        let mut bounds = vec![Err(Unbounded::NoGuarantee); self.classes.len()];
        for ((id, _), bound) in self.leaves().zip(leaves) {
            bounds[id.index()] = bound;
        }
        bounds
    }

    pub(crate) fn traffic(&self, class: &Class) -> Traffic {
        let arrival = class.arrival.as_ref().map(|arrival| arrival.buckets.clone());
        Traffic { arrival: arrival.unwrap_or_default(), packet: self.max_packet(class) }
    }
}
