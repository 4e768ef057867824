//! From a plan to the things that act on it: a scheduler, and the question whether it fits.

use laxity::admit::edf;
use laxity::aqm::{Choke, Limit, Managed, Policy};
use laxity::curve::Curve;
use laxity::police::Meter;
use laxity::sched::edf::{
    Assign, BestEffort as BestEffortStage, Deadlines, Line, TwoLineFast, TwoLines,
};
use laxity::sched::{Drr, Dwcs, Edf, Fifo, Hfsc, Wf2q, Wfq};
use laxity::scheduler::{Scheduler, Withdraw};
use laxity::units::Bytes;

use crate::model::{
    Arrival, BestEffort, BestEffortOrder, Class, Plan, Police, QueueSpec, SchedulerSpec,
};
use crate::tdp::TdpSpec;

impl Plan {
    /// The plan's classes under some scheduler, the plan's own or another, behind their queues,
    /// which draw random numbers made from `seed`. For time-driven priority it is what orders the
    /// packets that have no frame.
    pub fn scheduler(&self, spec: SchedulerSpec, seed: u64) -> Box<dyn Scheduler + Send> {
        if spec == SchedulerSpec::Wf2q && self.has_schedulers_below() {
            return Box::new(self.hierarchy(seed));
        }
        let mut policies: Vec<_> = self.queue.iter().map(QueueSpec::policy).collect();
        let mut queue_of = vec![self.queue.map(|_| 0); self.classes.len()];
        for (class, queue_of) in self.classes.iter().zip(&mut queue_of) {
            if let Some(queue) = &class.queue {
                *queue_of = Some(policies.len());
                policies.push(queue.policy());
            }
        }
        if policies.is_empty() {
            return self.discipline(spec);
        }
        Box::new(Managed::new(self.discipline(spec), &policies, &queue_of, seed))
    }

    /// Whether any number of packets may be queued.
    pub fn limits_nothing(&self) -> bool {
        self.queue.is_none() && self.classes.iter().all(|class| class.queue.is_none())
    }

    fn discipline(&self, spec: SchedulerSpec) -> Box<dyn Withdraw + Send> {
        match spec {
            SchedulerSpec::Fifo => Box::new(Fifo::new()),
            SchedulerSpec::Wfq => Box::new(self.wfq()),
            SchedulerSpec::Wf2q => Box::new(Wf2q::new(self.link.rate, &self.wf2q_shares())),
            SchedulerSpec::Drr => Box::new(Drr::new(&self.drr_quanta())),
            SchedulerSpec::Hfsc => {
                let hfsc = Hfsc::new(&self.hfsc_classes());
                Box::new(hfsc.expect("reading refuses what is no hierarchy"))
            }
            SchedulerSpec::Edf { best_effort, order, late } => {
                let assign = self.assign(best_effort);
                let stage = match order {
                    BestEffortOrder::Fifo => BestEffortStage::by_arrival(assign),
                    BestEffortOrder::Wfq => {
                        BestEffortStage::ordered_by(Box::new(self.wfq()), assign)
                    }
                };
                let deadlines: Vec<_> = self.classes.iter().map(Class::due_within).collect();
                Box::new(Edf::new(&deadlines, stage).with_late(late))
            }
            SchedulerSpec::Dwcs(settings) => Box::new(Dwcs::new(settings, &self.dwcs_streams())),
            SchedulerSpec::Tdp(TdpSpec { order: BestEffortOrder::Fifo, .. }) => {
                Box::new(Fifo::new())
            }
            SchedulerSpec::Tdp(TdpSpec { order: BestEffortOrder::Wfq, .. }) => Box::new(self.wfq()),
        }
    }

    fn wfq(&self) -> Wfq {
        Wfq::new(self.link.rate, &self.flat_weights())
    }

    fn assign(&self, way: BestEffort) -> Assign {
        match way {
            BestEffort::Background => Assign::Background,
            // Nothing is known to be left where a real-time class does not tell what it sends.
            _ if self.real_time().count() < self.due().count() => Assign::Background,
            BestEffort::TwoLineFast => Assign::TwoLineFast(TwoLineFast::new(self.two_lines())),
            _ => {
                let deadlines = Deadlines::new(&self.best_effort_curve(way));
                Assign::Curve(deadlines.expect("whole rates, sizes and times make a fit curve"))
            }
        }
    }

    /// The two lines of Algorithms 2 and 3.
    pub fn two_lines(&self) -> TwoLines {
        let system = self.edf_system();
        let from = system.shortest_deadline().unwrap_or_default();
        TwoLines::below(&system.effective_residual_capacity(), from)
    }

    /// The line of the shifted-line way.
    pub fn shifted_line(&self) -> Line {
        Line::shifted(&self.edf_system().effective_residual_capacity(), self.link.max_packet)
    }

    /// The curve that a way's best-effort deadlines are made from: how much best-effort work any
    /// interval may demand ahead of real-time packets. Zero for background service.
    pub fn best_effort_curve(&self, way: BestEffort) -> Curve {
        let system = self.edf_system();
        let residual = || system.effective_residual_capacity();
        match way {
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
        let sends_best_effort =
            |class: &&Class| class.due_within().is_none() || class.police == Police::Demote;
        let best_effort = self.leaves().map(|(_, class)| class).filter(sends_best_effort);
        edf::System {
            rate: self.link.rate,
            latency: self.link.latency,
            max_packet: self.link.max_packet,
            real_time: self.real_time().map(|(_, class)| class).collect(),
            best_effort_packet: best_effort.map(|class| self.max_packet(class)).max(),
        }
    }

    /// The classes whose packets have deadlines.
    fn due(&self) -> impl Iterator<Item = &Class> {
        self.classes.iter().filter(|class| class.due_within().is_some())
    }

    /// The real-time classes that tell what they send, with their places among all classes.
    fn real_time(&self) -> impl Iterator<Item = (usize, edf::RealTime)> {
        self.classes.iter().enumerate().filter_map(|(index, class)| {
            let deadline = class.due_within()?;
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

    /// What EDF, serving best effort this way, guarantees.
    pub fn edf_admission(&self, way: BestEffort) -> edf::Admission {
        let system = self.edf_system();
        match system.best_effort_packet {
            Some(_) => system.test(&self.best_effort_curve(way)),
            None => system.test(&Curve::zero()),
        }
    }
}

impl QueueSpec {
    /// What the queue never exceeds.
    pub fn limit(&self) -> Limit {
        match *self {
            QueueSpec::DropTail(limit) => limit.into(),
            QueueSpec::Red(red) | QueueSpec::Choke(Choke { red, .. }) => red.limit,
            QueueSpec::CoDel(codel) => codel.limit,
        }
    }

    fn policy(&self) -> Policy {
        match *self {
            QueueSpec::DropTail(limit) => Policy::DropTail(limit.into()),
            QueueSpec::Red(red) => Policy::Red(red),
            QueueSpec::Choke(choke) => Policy::Choke(choke),
            QueueSpec::CoDel(codel) => Policy::CoDel(codel),
        }
    }
}

impl Arrival {
    /// A meter that tells which packets keep to the curve.
    pub fn meter(&self) -> Meter {
        Meter::new(self.buckets.iter().copied())
    }
}
