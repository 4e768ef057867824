//! Summaries of what was counted: over one link, or at the outputs of a network and from end to
//! end.

use laxity::packet::ClassId;
use laxity::port::Account;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Class, Hop, Source};

use super::ended::Ended;
use super::flow::Flow;
use super::output::frames::FrameCounts;
use super::run::NetworkRun;
use crate::summary::{
    ClassSummary, DelaySummary, EndToEnd, FlowSummary, FramesSummary, HopSummary, NetworkSummary,
    OnDemand, Summary, TcpSummary, WindowSummary, jain, loss_ratio,
};
use crate::tcp::Counts;
use crate::windows::Windows;

/// What was counted over one link.
pub(super) struct LinkCounts<'a> {
    /// By class.
    pub accounts: &'a [Account],
    /// Bytes that left within the measured time, by class.
    pub bytes_in_time: &'a [u64],
    /// Packets that broke their class's arrival curve, by class.
    pub nonconforming: &'a [u64],
    /// How long the link was sending within the measured time.
    pub busy: Nanos,
    /// When traffic ended.
    pub traffic: Nanos,
    /// When the measured time ended.
    pub end: Nanos,
    /// The most memory that the scheduler held, in bytes.
    pub footprint: usize,
    /// The windows of all streams.
    pub windows: Option<&'a Windows>,
}

impl LinkCounts<'_> {
    /// The results of a run over one link: its classes are those that have packets, whether any
    /// came or not.
    pub(super) fn summary(&self, plan: &Plan, seed: u64) -> Summary {
        let seconds = self.end.saturating_sub(plan.run.warm_up).as_secs_f64();
        let per_second = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        let windows = |id: ClassId, class: &Class| {
            let watched = self.windows?;
            let proved = plan.keeps_windows() && watched.are_in_step();
            WindowSummary::new(class, watched.of(id)?, proved)
        };
        // Of the right size at once: there may be a million.
        let mut classes = Vec::with_capacity(plan.leaves().count());
        classes.extend(plan.leaves().map(|(id, class)| ClassSummary {
            parent: class.parent.map(|parent| plan.classes[parent.index()].name.clone()),
            nonconforming: self.nonconforming[id.index()],
            throughput_bps: per_second(self.bytes_in_time[id.index()] as f64 * 8.0),
            windows: windows(id, class),
            ..ClassSummary::new(class, &self.accounts[id.index()])
        }));
        let hop = HopSummary {
            link: "link".to_owned(),
            from: String::new(),
            to: String::new(),
            scheduler: plan.scheduler.name().to_owned(),
            rate_bps: plan.link.rate.0,
            utilization: per_second(self.busy.as_secs_f64()),
            lost: 0,
            duplicated: 0,
            scheduler_bytes: Some(self.footprint),
            frames: None,
            classes,
        };
        let (traffic_ns, duration_ns) = (self.traffic.0, self.end.0);
        Summary { traffic_ns, duration_ns, hops: vec![hop], ..Summary::new(plan, seed) }
    }
}

/// What was counted in a run.
pub(super) struct Measured<'a> {
    pub run: &'a NetworkRun<'a>,
    pub of: &'a Ended,
}

impl Measured<'_> {
    /// The results of a run of a network.
    pub(super) fn summary(&self) -> Summary {
        let plan = self.run.on.plan;
        let mut flows = vec![Vec::new(); plan.classes.len()];
        for flow in &self.of.flows {
            flows[flow.class.index()].push(flow);
        }
        let end_to_end = |(place, (id, _)): (usize, (ClassId, &Class))| {
            self.end_to_end(place, id, &flows[id.index()])
        };
        let network = NetworkSummary {
            classes: plan.leaves().enumerate().filter_map(end_to_end).collect(),
            flows: self.of.flows.iter().map(|flow| self.flow(flow)).collect(),
            hop_departures: self.of.hops,
            ties_at_full_queues: self.of.ties,
            under_way: self.of.under_way,
        };
        Summary {
            traffic_ns: self.of.end.0,
            duration_ns: self.of.end.0,
            hops: self.hops(),
            network: Some(network),
            ..Summary::new(plan, self.run.seed)
        }
    }

    fn seconds(&self) -> f64 {
        self.of.end.saturating_sub(self.run.on.plan.run.warm_up).as_secs_f64()
    }

    fn goodput(&self, flow: &Flow) -> f64 {
        match self.seconds() {
            0.0 => 0.0,
            seconds => flow.books.delivered as f64 * 8.0 / seconds,
        }
    }

    fn flow(&self, flow: &Flow) -> FlowSummary {
        let books = &flow.books;
        FlowSummary {
            class: self.run.on.plan.classes[flow.class.index()].name.clone(),
            flow: flow.id.0,
            sent: books.sent,
            dropped: books.dropped,
            goodput_bps: self.goodput(flow),
            delay_mean_ns: (books.arrived > 0)
                .then(|| books.delay_sum as f64 / books.arrived as f64),
        }
    }

    /// A class's connections, if it has any: those that have not begun have done nothing.
    fn tcp(&self, id: ClassId, flows: &[&Flow]) -> Option<TcpSummary> {
        let completion = &self.of.classes[id.index()].completion;
        let senders = || flows.iter().filter_map(|flow| flow.sender.as_deref());
        let sum = |count: fn(Counts) -> u64| senders().map(|one| count(one.sender.counts())).sum();
        flows.iter().any(|flow| flow.is_connection()).then(|| TcpSummary {
            retransmitted: sum(|counts| counts.retransmitted),
            recoveries: sum(|counts| counts.recoveries),
            timeouts: sum(|counts| counts.timeouts),
            echoes: sum(|counts| counts.echoes),
            completed: completion.count(),
            completion_ns: DelaySummary::new(completion),
            on_demand: self.on_demand(id, flows),
        })
    }

    fn on_demand(&self, id: ClassId, flows: &[&Flow]) -> Option<OnDemand> {
        let is_asked = |source: &Source| match source {
            Source::Tcp(source) => source.class == id && source.every.is_some(),
            Source::Model(_) | Source::Recording(_) => false,
        };
        self.run.on.plan.sources.iter().any(is_asked).then(|| {
            let ends =
                flows.iter().filter_map(|flow| flow.sender.as_ref().zip(flow.receiver.as_ref()));
            let asked = ends.filter(|(sender, _)| sender.is_asked_by_time());
            asked.fold(OnDemand::default(), |sum, (sender, receiver)| OnDemand {
                waited: sum.waited + sender.waited(),
                unfinished: sum.unfinished + u64::from(receiver.is_expecting()),
            })
        })
    }

    fn end_to_end(&self, place: usize, id: ClassId, flows: &[&Flow]) -> Option<EndToEnd> {
        let books = &self.of.classes[id.index()];
        let goodputs = flows.iter().map(|flow| self.goodput(flow));
        let sent = flows.iter().map(|flow| flow.books.sent).sum();
        let dropped = flows.iter().map(|flow| flow.books.dropped).sum();
        (!flows.is_empty()).then(|| EndToEnd {
            name: self.run.on.plan.classes[id.index()].name.clone(),
            place,
            flows: flows.len() as u64,
            sent,
            dropped,
            loss_ratio: loss_ratio(dropped, sent),
            marked: self.of.books.iter().map(|books| books.accounts()[id.index()].marked()).sum(),
            nonconforming: self.of.nonconforming[id.index()],
            goodput_bps: goodputs.clone().sum(),
            fairness: jain(goodputs),
            delay_ns: DelaySummary::new(&books.delay),
            transit_ns: DelaySummary::new(&books.transit),
            deadline_ns: self.run.on.plan.classes[id.index()].end_to_end.map(|deadline| deadline.0),
            deadline_misses: books.deadline_misses,
            bound_ns: flows
                .iter()
                .map(|flow| flow.bound)
                .reduce(|a, b| Some(a?.max(b?)))
                .flatten()
                .map(|bound| bound.0),
            bound_misses: books.bound_misses,
            tcp: self.tcp(id, flows),
        })
    }

    fn hops(&self) -> Vec<HopSummary> {
        let taken =
            |at: usize| self.of.books[at].accounts().iter().any(|account| account.arrived > 0);
        let used = self.run.on.network.hops().zip(0..).filter(|&(_, at)| taken(at));
        used.map(|(hop, at)| self.hop(hop, at)).collect()
    }

    fn hop(&self, hop: Hop, at: usize) -> HopSummary {
        let on = self.run.on;
        let link = on.network.link(hop);
        let [from, to] = on.network.ends(hop).map(str::to_string);
        let accounts = (0..).map(ClassId).zip(&on.plan.classes).zip(self.of.books[at].accounts());
        let sent_or_dropped = accounts.filter(|(_, account)| account.arrived > 0);
        // Streams are in step where they set out, and nothing is proved of them behind that.
        let windows = |id: ClassId, class: &Class| {
            WindowSummary::new(class, self.of.windows[at].as_ref()?.of(id)?, false)
        };
        let time = self.seconds() * self.of.outputs[at] as f64;
        let class = |((id, class), account)| {
            let summary = ClassSummary::new(class, account);
            let throughput_bps =
                if time > 0.0 { summary.bytes_sent as f64 * 8.0 / time } else { 0.0 };
            ClassSummary { throughput_bps, windows: windows(id, class), ..summary }
        };
        HopSummary {
            link: link.name.clone(),
            from,
            to,
            scheduler: on.plan.scheduling_at(hop).scheduler.name().to_string(),
            rate_bps: link.rate.0,
            utilization: if time > 0.0 { self.of.busy[at].as_secs_f64() / time } else { 0.0 },
            lost: self.of.lost[at],
            duplicated: self.of.duplicated[at],
            scheduler_bytes: None,
            frames: self.of.frames[at].map(FramesSummary::from),
            classes: sent_or_dropped.map(class).collect(),
        }
    }
}

impl From<FrameCounts> for FramesSummary {
    fn from(counts: FrameCounts) -> Self {
        let FrameCounts { padding, late, silent, losses, unknown } = counts;
        FramesSummary { padding, late, silent, losses, unknown }
    }
}
