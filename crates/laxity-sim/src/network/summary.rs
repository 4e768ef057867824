//! What a run of a network measured, in the form of `summary.json`.

use laxity::packet::ClassId;
use laxity_plan::model::{Class, Hop, Source};
use serde::Serialize;

use super::ended::Ended;
use super::flow::Flow;
use super::frames::FrameCounts;
use super::run::NetworkRun;
use crate::summary::{ClassSummary, DelaySummary, WindowSummary, is_zero};
use crate::tcp::Counts;

/// The results of one run of a network.
#[derive(Clone, Debug, Serialize)]
pub struct NetworkSummary {
    /// The plan's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Laxity's version.
    pub version: &'static str,
    /// The discipline of links that have none of their own, as `--scheduler` names it.
    pub scheduler: String,
    /// The seed of every random draw.
    pub seed: u64,
    /// When the simulation ended.
    pub duration_ns: u64,
    /// What happened before is not measured.
    pub warm_up_ns: u64,
    /// The classes from end to end, those that have flows, in the plan's order.
    pub classes: Vec<EndToEnd>,
    /// The links, each direction that packets took.
    pub hops: Vec<HopSummary>,
    /// The flows, in the order of the sources.
    pub flows: Vec<FlowSummary>,
    /// Packets sent over links in all, measured or not.
    pub hop_departures: u64,
    /// Packets that found a queue full which others reached, or the link made room in, at the same
    /// instant: a draw decided who got in. Over the whole run.
    pub ties_at_full_queues: u64,
    /// Packets that were propagating over a link at the end.
    pub under_way: usize,
}

/// One class from its senders to its receivers.
#[derive(Clone, Debug, Serialize)]
pub struct EndToEnd {
    /// Its name.
    pub name: String,
    /// Its place among the classes that have packets, as in [`Series`](crate::series::Series).
    #[serde(skip)]
    pub place: usize,
    /// How many flows it has.
    pub flows: u64,
    /// Packets that set out, retransmissions included, acknowledgements not.
    pub sent: u64,
    /// Packets that were dropped or lost on the way.
    pub dropped: u64,
    /// Packets that queues on the way marked as having met congestion (ECN).
    #[serde(skip_serializing_if = "is_zero")]
    pub marked: u64,
    /// Packets that broke the class's arrival curve where they set out.
    pub nonconforming: u64,
    /// Bits a second that were delivered, each packet once.
    pub goodput_bps: f64,
    /// Jain's index of its flows' goodputs: 1 when all are alike, 1/n when one has it all (Jain,
    /// Chiu, Hawe 1984); absent when nothing was delivered.
    pub fairness: Option<f64>,
    /// From a packet's arrival at the first output to its arrival at the receiver.
    pub delay_ns: Option<DelaySummary>,
    /// From the beginning of a packet's first transmission to its arrival at the receiver.
    pub transit_ns: Option<DelaySummary>,
    /// The delay that it is promised from end to end.
    pub deadline_ns: Option<u64>,
    /// Packets that took longer, or were longer under way when the run ended, without those demoted
    /// to best effort.
    pub deadline_misses: u64,
    /// The delay that is proved from end to end: the longest of its paths.
    pub bound_ns: Option<u64>,
    /// Packets that took longer than proved for their path, or were longer under way when the run
    /// ended, without those demoted to best effort.
    pub bound_misses: u64,
    /// What its TCP endpoints did, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpSummary>,
}

impl EndToEnd {
    /// Whether any packet took longer than its deadline or its bound.
    pub fn is_late(&self) -> bool {
        self.deadline_misses + self.bound_misses > 0
    }
}

/// What TCP endpoints did, over the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TcpSummary {
    /// Segments sent again.
    pub retransmitted: u64,
    /// Fast recoveries.
    pub recoveries: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Windows reduced for an echo of congestion.
    pub echoes: u64,
    /// Transfers completed within the measured time.
    pub completed: u64,
    /// How long they took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_ns: Option<DelaySummary>,
    /// Of transfers that are asked for by time, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_demand: Option<OnDemand>,
}

/// Transfers that are asked for by time, whatever became of those before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OnDemand {
    /// Those that had to wait because another one of their connection was under way. The wait
    /// counts in how long they took.
    pub waited: u64,
    /// Those under way at the end, which do not count in how long they took.
    pub unfinished: u64,
}

/// One direction of a link; of all private links of that name together.
#[derive(Clone, Debug, Serialize)]
pub struct HopSummary {
    /// The link's name.
    pub link: String,
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// The discipline.
    pub scheduler: String,
    /// Bits a second.
    pub rate_bps: u64,
    /// The share of the measured time in which it was sending, 0 to 1; the mean of private links.
    pub utilization: f64,
    /// Packets that were lost under way.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost: u64,
    /// Packets of which a copy was made under way, which counts at the outputs that it comes to.
    #[serde(skip_serializing_if = "is_zero")]
    pub duplicated: u64,
    /// What happened to frames, under time-driven priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<FramesSummary>,
    /// The classes that sent over it: delays from a packet's arrival at the node to its last bit
    /// out, propagation excluded.
    pub classes: Vec<ClassSummary>,
}

/// Frames of time-driven priority at one output and the input behind its link, over the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FramesSummary {
    /// Padding packets that were sent.
    pub padding: u64,
    /// Reserved packets that ended after their frame.
    pub late: u64,
    /// Frames of which the node behind heard nothing.
    pub silent: u64,
    /// How often the node behind got out of step.
    pub losses: u64,
    /// Reserved packets that came while it was, and travelled on as best effort.
    pub unknown: u64,
}

impl From<FrameCounts> for FramesSummary {
    fn from(counts: FrameCounts) -> Self {
        let FrameCounts { padding, late, silent, losses, unknown } = counts;
        FramesSummary { padding, late, silent, losses, unknown }
    }
}

/// One flow from its sender to its receiver.
#[derive(Clone, Debug, Serialize)]
pub struct FlowSummary {
    /// Its class.
    pub class: String,
    /// Its number in the class.
    pub flow: u32,
    /// Packets that set out.
    pub sent: u64,
    /// Packets that were dropped or lost on the way.
    pub dropped: u64,
    /// Bits a second that were delivered, each packet once.
    pub goodput_bps: f64,
    /// The mean delay of the packets that arrived in ns.
    pub delay_mean_ns: Option<f64>,
}

/// What was counted in a run.
pub(super) struct Measured<'a> {
    pub run: &'a NetworkRun<'a>,
    pub of: &'a Ended,
}

impl NetworkSummary {
    pub(super) fn new(measured: &Measured<'_>) -> NetworkSummary {
        let NetworkRun { on, seed, .. } = *measured.run;
        let plan = on.plan;
        let mut flows = vec![Vec::new(); plan.classes.len()];
        for flow in &measured.of.flows {
            flows[flow.class.index()].push(flow);
        }
        let end_to_end = |(place, (id, _)): (usize, (ClassId, &Class))| {
            measured.end_to_end(place, id, &flows[id.index()])
        };
        NetworkSummary {
            title: plan.title.clone(),
            version: env!("CARGO_PKG_VERSION"),
            scheduler: plan.scheduler.name().to_string(),
            seed,
            duration_ns: measured.of.end.0,
            warm_up_ns: plan.run.warm_up.0,
            classes: plan.leaves().enumerate().filter_map(end_to_end).collect(),
            hops: measured.hops(),
            flows: measured.of.flows.iter().map(|flow| measured.flow(flow)).collect(),
            hop_departures: measured.of.hops,
            ties_at_full_queues: measured.of.ties,
            under_way: measured.of.under_way,
        }
    }
}

impl Measured<'_> {
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
            completion_ns: DelaySummary::of(completion),
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
        (!flows.is_empty()).then(|| EndToEnd {
            name: self.run.on.plan.classes[id.index()].name.clone(),
            place,
            flows: flows.len() as u64,
            sent: flows.iter().map(|flow| flow.books.sent).sum(),
            dropped: flows.iter().map(|flow| flow.books.dropped).sum(),
            marked: self.of.books.iter().map(|books| books.accounts()[id.index()].marked()).sum(),
            nonconforming: self.of.nonconforming[id.index()],
            goodput_bps: goodputs.clone().sum(),
            fairness: jain(goodputs),
            delay_ns: DelaySummary::of(&books.delay),
            transit_ns: DelaySummary::of(&books.transit),
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
            let summary = ClassSummary::of_account(class, account);
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
            frames: self.of.frames[at].map(FramesSummary::from),
            classes: sent_or_dropped.map(class).collect(),
        }
    }
}

/// Jain's index of fairness (Jain, Chiu, Hawe 1984): the square of the sum over n times the sum of
/// the squares; none of nothing.
pub fn jain(goodputs: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum, squares) =
        goodputs.fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
    (squares > 0.0).then(|| sum * sum / (count * squares))
}
