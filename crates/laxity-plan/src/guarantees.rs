//! What a plan's classes are guaranteed: the questions that admission tests are asked about it.

use laxity::admit::dwcs::{self, Windowed};
use laxity::admit::fair::{
    Hierarchy, Member, Turn, Weighted, drr, drr_services, wfq, wfq_services,
};
use laxity::admit::{Service, Traffic, Unbounded, edf, hfsc};
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
            SchedulerSpec::Wfq => self.of_leaves(wfq(self.link.rate, &self.weighted())),
            SchedulerSpec::Drr => self.of_leaves(drr(self.link.rate, &self.turns())),
            SchedulerSpec::Wf2q if self.has_schedulers_below() => self.guarantees_below().bounds,
            SchedulerSpec::Wf2q => self.wf2q_hierarchy().test().bounds,
            SchedulerSpec::Hfsc => self.hfsc_system().test().bounds,
            SchedulerSpec::Edf { best_effort, .. } => {
                self.edf_bounds(&self.edf_admission(best_effort))
            }
        }
    }

    /// By what curves of their own a scheduler serves the classes, whatever the others send; `None`
    /// where it depends on them, or nothing is guaranteed.
    pub fn services(&self, spec: SchedulerSpec) -> Vec<Option<Service>> {
        let of_all = |services: Vec<Result<Service, Unbounded>>| {
            services.into_iter().map(Result::ok).collect()
        };
        match spec {
            SchedulerSpec::Wfq => {
                let services = wfq_services(self.link.rate, &self.weighted());
                of_all(self.of_leaves(services.into_iter().map(Ok).collect()))
            }
            SchedulerSpec::Drr => {
                of_all(self.of_leaves(drr_services(self.link.rate, &self.turns())))
            }
            SchedulerSpec::Wf2q if !self.has_schedulers_below() => {
                of_all(self.wf2q_hierarchy().services())
            }
            SchedulerSpec::Hfsc => of_all(self.hfsc_system().services()),
            _ => vec![None; self.classes.len()],
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

    /// The leaves as WFQ's bounds see them.
    fn weighted(&self) -> Vec<Weighted> {
        let weights = self.flat_weights();
        let weighted = |(id, class): (ClassId, &Class)| Weighted {
            weight: weights[id.index()],
            traffic: self.traffic(class),
        };
        self.leaves().map(weighted).collect()
    }

    /// The leaves as those of deficit round robin see them.
    fn turns(&self) -> Vec<Turn> {
        let quanta = self.drr_quanta();
        let turn = |(id, class): (ClassId, &Class)| Turn {
            quantum: quanta[id.index()],
            traffic: self.traffic(class),
        };
        self.leaves().map(turn).collect()
    }

    /// What is said of the leaves, in their order, among all classes.
    fn of_leaves<T: Clone>(&self, leaves: Vec<Result<T, Unbounded>>) -> Vec<Result<T, Unbounded>> {
        let mut all = vec![Err(Unbounded::NoGuarantee); self.classes.len()];
        for ((id, _), of_leaf) in self.leaves().zip(leaves) {
            all[id.index()] = of_leaf;
        }
        all
    }

    pub(crate) fn traffic(&self, class: &Class) -> Traffic {
        let arrival = class.arrival.as_ref().map(|arrival| arrival.buckets.clone());
        Traffic { arrival: arrival.unwrap_or_default(), packet: self.max_packet(class) }
    }
}
