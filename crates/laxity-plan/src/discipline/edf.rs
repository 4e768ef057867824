//! Earliest deadline first, with deadlines for best effort.

use laxity::admit::{Breakdown, Service, Unbounded, edf};
use laxity::curve::Curve;
use laxity::packet::ClassId;
use laxity::sched::Edf;
use laxity::sched::edf::{
    Assign, BestEffort as BestEffortStage, Deadlines, Line, TwoLineFast, TwoLines,
};
use laxity::scheduler::Withdraw;
use laxity::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

use super::room::{Aftermath, Bounds, Discipline, Proof, Queue, Queues, Room, Services};
use crate::error::{Fault, Span};
use crate::model::{
    BestEffort, BestEffortOrder, CakeSpec, Class, EdfSpec, Late, Plan, Police, SchedulerSpec,
    TokenBucket,
};
use crate::raw;

pub(super) const ROOM: Room = Room {
    keys: &["best-effort", "best-effort-order", "late"],
    class_keys: &[&["gap", "dscp"], Room::SHARES],
    variant: "WAY",
    with_variant,
    read,
    is_held_to_promises: true,
    ..Room::plain(
        &[
            "edf/background",
            "edf/total-bandwidth",
            "edf/shifted-line",
            "edf/two-line",
            "edf/two-line-fast",
            "edf/exact",
        ],
        Some(SchedulerSpec::EDF),
        PROOF,
    )
};

const PROOF: Proof = Proof {
    in_share: Some(Plan::bounds),
    waits_behind: |plan| {
        Box::new(|_, other| plan.classes[other.index()].relative_deadline().is_some())
    },
    counts_on_others: false,
    is_one_queue: false,
    counts_bytes: true,
    keeps_order: |_| true,
    sets_demoted_behind: true,
    bears_late_links: true,
    growths: None,
    aftermath: |_| Aftermath::PromisedFirst,
};

impl Discipline for EdfSpec {
    fn variant(&self) -> usize {
        self.best_effort as usize
    }

    fn build(&self, plan: &Plan, seed: u64) -> Box<dyn Withdraw + Send> {
        let assign = plan.assign(self.best_effort);
        let stage = match self.order {
            BestEffortOrder::Fifo => BestEffortStage::by_arrival(assign),
            BestEffortOrder::Wfq => BestEffortStage::ordered_by(Box::new(plan.wfq()), assign),
            BestEffortOrder::Cake => {
                BestEffortStage::ordered_by(CakeSpec::USUAL.build(plan, seed), assign)
            }
        };
        let deadlines: Vec<_> = plan.classes.iter().map(Class::relative_deadline).collect();
        Box::new(Edf::new(&deadlines, stage).with_late(self.late))
    }

    fn contract(&self, plan: &Plan, class: &Class) -> Option<Vec<TokenBucket>> {
        plan.contract(class)
    }

    fn bounds(&self, plan: &Plan) -> Bounds {
        plan.edf_bounds(&plan.edf_admission(self.best_effort))
    }

    fn services(&self, plan: &Plan) -> Services {
        plan.of_real_time(self.best_effort, edf::System::own_services)
    }

    fn aggregates(&self, plan: &Plan) -> Services {
        plan.of_real_time(self.best_effort, |system| {
            vec![Some(system.aggregate_service()); system.real_time.len()]
        })
    }

    fn queues(&self, plan: &Plan) -> Queues {
        plan.of_real_time(self.best_effort, queues)
    }

    fn breakdown(&self, plan: &Plan, class: ClassId) -> Option<Breakdown> {
        let mut numbers: Vec<_> =
            plan.real_time_classes().into_iter().map(|of| ClassId(of as u32)).collect();
        let place = numbers.binary_search(&class).ok()?;
        let demand = plan.best_effort_demand(self.best_effort);
        // Best effort is numbered behind them.
        let longest = plan.sending_best_effort().max_by_key(|(_, class)| plan.max_packet(class));
        numbers.extend(longest.map(|(id, _)| id));
        let breakdown = plan.edf_system().breakdown(&demand, place)?;
        Some(breakdown.renumbered(|number| numbers[number.index()]))
    }
}

impl SchedulerSpec {
    /// EDF with its default settings.
    pub const EDF: SchedulerSpec = SchedulerSpec::Edf(EdfSpec {
        best_effort: BestEffort::Exact,
        order: BestEffortOrder::Wfq,
        late: Late::Send,
    });
}

impl BestEffort {
    /// Every scheme, from the simplest to the best.
    pub const ALL: [BestEffort; 6] = [
        BestEffort::Background,
        BestEffort::TotalBandwidth,
        BestEffort::ShiftedLine,
        BestEffort::TwoLine,
        BestEffort::TwoLineFast,
        BestEffort::Exact,
    ];

    /// Its word in a plan.
    pub fn name(self) -> &'static str {
        &ROOM.names[self as usize]["edf/".len()..]
    }
}

impl Plan {
    fn assign(&self, scheme: BestEffort) -> Assign {
        match self.best_effort(scheme) {
            BestEffort::Background => Assign::Background,
            BestEffort::TwoLineFast => Assign::TwoLineFast(TwoLineFast::new(self.two_lines())),
            scheme => {
                let deadlines = Deadlines::new(&self.best_effort_curve(scheme));
                Assign::Curve(deadlines.expect("whole rates, sizes and times make a fit curve"))
            }
        }
    }

    /// How best effort is served for which a scheme is asked: in the background where it is not
    /// known what is left for it, because a real-time class does not tell what it sends, or because
    /// the link is sure of nothing.
    fn best_effort(&self, scheme: BestEffort) -> BestEffort {
        let all_arrivals_known = self.real_time().count() == self.due().count();
        if all_arrivals_known && self.link.latency.is_some() {
            scheme
        } else {
            BestEffort::Background
        }
    }

    /// Whether best effort gets deadlines in a scheme.
    pub(crate) fn gives_deadlines(&self, scheme: BestEffort) -> bool {
        self.best_effort(scheme) != BestEffort::Background
    }

    /// The two lines of Algorithms 2 and 3.
    pub fn two_lines(&self) -> TwoLines {
        let system = self.edf_system();
        let from = system.shortest_deadline().unwrap_or_default();
        TwoLines::below(&system.effective_residual_capacity(), from)
    }

    /// The line of the shifted-line scheme.
    pub fn shifted_line(&self) -> Line {
        Line::shifted(&self.edf_system().effective_residual_capacity(), self.link.max_packet)
    }

    /// The curve that a scheme's best-effort deadlines are made from: how much best-effort work any
    /// interval may demand ahead of real-time packets. Zero for background service.
    pub fn best_effort_curve(&self, scheme: BestEffort) -> Curve {
        let system = self.edf_system();
        let residual = || system.effective_residual_capacity();
        match self.best_effort(scheme) {
            BestEffort::Background => Curve::zero(),
            BestEffort::TotalBandwidth => {
                let from = system.shortest_deadline().unwrap_or_default();
                Line::through_origin(&residual(), from).curve()
            }
            BestEffort::ShiftedLine => self.shifted_line().curve(),
            BestEffort::TwoLine | BestEffort::TwoLineFast => self.two_lines().curve(),
            BestEffort::Exact => residual(),
        }
    }

    /// The plan as EDF's admission test sees it.
    pub fn edf_system(&self) -> edf::System {
        let best_effort = self.sending_best_effort();
        edf::System {
            rate: self.link.rate,
            latency: self.link.latency.unwrap_or(Nanos::MAX),
            max_packet: self.link.max_packet,
            real_time: self.real_time().map(|(_, class)| class).collect(),
            best_effort_packet: best_effort.map(|(_, class)| self.max_packet(class)).max(),
        }
    }

    /// What the real-time classes have for certain, among all classes. Nothing, where one does not
    /// tell what it sends, or where best effort has deadlines, by which it may take all that those
    /// of others leave.
    fn of_real_time<T: Clone>(
        &self,
        scheme: BestEffort,
        proved: impl FnOnce(&edf::System) -> Vec<Option<T>>,
    ) -> Vec<Option<T>> {
        let mut all = vec![None; self.classes.len()];
        let is_known = self.real_time().count() == self.due().count();
        let is_sure = self.link.latency.is_some();
        if is_known && is_sure && self.best_effort_demand(scheme) == Curve::zero() {
            let classes = self.real_time_classes().into_iter();
            for (class, one) in classes.zip(proved(&self.edf_system())) {
                all[class] = one;
            }
        }
        all
    }

    /// The classes whose packets may be best effort.
    fn sending_best_effort(&self) -> impl Iterator<Item = (ClassId, &Class)> {
        self.present_leaves().filter(|(_, class)| {
            class.relative_deadline().is_none() || class.police == Police::Demote
        })
    }

    /// The classes whose packets have deadlines.
    fn due(&self) -> impl Iterator<Item = &Class> {
        self.classes.iter().filter(|class| class.relative_deadline().is_some())
    }

    /// The real-time classes that tell what they send, with their places among all classes.
    fn real_time(&self) -> impl Iterator<Item = (usize, edf::RealTime)> {
        self.classes.iter().enumerate().filter_map(|(index, class)| {
            let deadline = class.relative_deadline()?;
            let arrival = self.contract(class)?;
            // A packet larger than a bucket never conforms.
            let buckets = arrival.iter().map(|line| line.bucket);
            let packet = buckets.fold(self.max_packet(class), Bytes::min);
            Some((index, edf::RealTime { deadline, arrival, packet }))
        })
    }

    /// The numbers of the real-time classes, in the order of [`edf_system`](Self::edf_system).
    pub fn real_time_classes(&self) -> Vec<usize> {
        self.real_time().map(|(index, _)| index).collect()
    }

    /// What EDF guarantees with this scheme for best effort.
    pub fn edf_admission(&self, scheme: BestEffort) -> edf::Admission {
        self.edf_system().test(&self.best_effort_demand(scheme))
    }

    /// What best effort demands with a scheme ahead of real-time packets.
    fn best_effort_demand(&self, scheme: BestEffort) -> Curve {
        match self.sending_best_effort().next() {
            Some(_) => self.best_effort_curve(scheme),
            None => Curve::zero(),
        }
    }

    /// The delay bound of every class by the answer of EDF's test. A class without `arrival` has
    /// none: the test only assumes what it sends.
    pub fn edf_bounds(&self, admission: &edf::Admission) -> Bounds {
        let mut bounds = vec![Err(Unbounded::NoGuarantee); self.classes.len()];
        for (class, guarantee) in self.real_time_classes().into_iter().zip(&admission.classes) {
            bounds[class] = match &self.classes[class].arrival {
                Some(_) => guarantee.bound.ok_or(Unbounded::NotAdmitted),
                None => Err(Unbounded::NoArrival),
            };
        }
        bounds
    }

    /// The token buckets that a class's deadlines hold for: its `arrival`, or of a class with a
    /// `gap` alone, for each of its streams a packet at once and one a gap.
    pub fn contract(&self, class: &Class) -> Option<Vec<TokenBucket>> {
        if let Some(arrival) = &class.arrival {
            return Some(arrival.buckets.clone());
        }
        let packets = self.max_packet(class).0 * u64::from(class.count);
        let bits_in_a_second = u128::from(packets) * u128::from(NANOBITS_PER_BYTE);
        let rate = bits_in_a_second.div_ceil(class.gap?.0.into());
        let rate = Rate(u64::try_from(rate).unwrap_or(u64::MAX));
        Some(vec![TokenBucket { bucket: Bytes(packets), rate }])
    }
}

/// The queue of each real-time class: that of its deadline.
fn queues(system: &edf::System) -> Queues {
    let queue = |(class, service): (&edf::RealTime, Option<Service>)| {
        Some(Queue { number: class.deadline.0, service: service? })
    };
    system.real_time.iter().zip(system.queue_services()).map(queue).collect()
}

fn with_variant(spec: SchedulerSpec, variant: usize) -> SchedulerSpec {
    let SchedulerSpec::Edf(edf) = spec else { return spec };
    SchedulerSpec::Edf(EdfSpec { best_effort: BestEffort::ALL[variant], ..edf })
}

fn read(raw: &raw::Scheduler, _: &Span) -> Result<SchedulerSpec, Fault> {
    Ok(SchedulerSpec::Edf(EdfSpec {
        best_effort: raw.best_effort.as_ref().map_or(BestEffort::Exact, |scheme| scheme.value.0),
        order: raw.best_effort_order.as_ref().map_or(BestEffortOrder::Wfq, |order| order.value.0),
        late: raw.late.as_ref().map_or(Late::Send, |late| late.value.0.into()),
    }))
}
