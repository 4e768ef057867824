//! Summaries of what was counted: over one link, or at the outputs of a network and from end to
//! end.

use laxity::packet::ClassId;
use laxity::port::Account;
use laxity::units::Nanos;
use laxity_plan::model::{Class, Hop, Source};

use super::books::hop_books::ClosedBooks;
use super::flow::Flow;
use super::output::Output;
use super::plane::DataPlane;
use super::results::{HopCounts, PartResults};
use super::run::NetworkRun;
use super::simulation::Simulation;
use crate::record::Observer;
use crate::source::Arrivals;
use crate::summary::{
    ClassSummary, DelaySummary, EndToEnd, FlowSummary, HopSummary, NetworkSummary, OnDemand,
    Outcome, Summary, TcpSummary, WindowSummary, jain, loss_ratio,
};
use crate::tcp::Counts;

impl<O: Observer> Simulation<'_, O> {
    /// What a run over one link measured. Its classes are those that have packets, whether any came
    /// or not.
    pub(super) fn into_outcome(mut self) -> Outcome {
        self.note_footprint();
        let Simulation { run, plane, hosts, policer, last, single, .. } = self;
        let DataPlane { mut topology, books, .. } = plane;
        let (limit, upcoming) = (books.end, single.expect("a run over one link"));
        let last_arrival = upcoming.last_arrival;
        let shaper = topology.outputs.first_mut().and_then(Output::shaper);
        let autorate = shaper.map(|shaper| shaper.finish(limit.min(last)));
        // Room for the summary.
        drop((topology, upcoming));
        let (ClosedBooks { books, busy, windows: watched }, counted) = books.close_single();
        let is_recorded = hosts.sources.iter().all(|source| source.feed.is_recording());
        let until = |last: Nanos| match (limit < Nanos::MAX, is_recorded) {
            (true, true) => limit.min(last),
            (true, false) => limit,
            (false, _) => last,
        };
        let (plan, traffic, end) = (run.on.plan, until(last_arrival), until(last));
        let seconds = end.saturating_sub(plan.run.warm_up).as_secs_f64();
        let per_second = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        let windows = |id: ClassId, class: &Class| {
            let watched = watched.as_ref()?;
            let proved = plan.keeps_windows() && watched.are_in_step();
            WindowSummary::new(class, watched.class(id)?, proved)
        };
        let nonconforming = policer.into_nonconforming();
        // Of the right size at once: there may be a million.
        let mut classes = Vec::with_capacity(plan.leaves().count());
        classes.extend(plan.leaves().map(|(id, class)| ClassSummary {
            parent: class.parent.map(|parent| plan.classes[parent.index()].name.clone()),
            nonconforming: nonconforming[id.index()],
            throughput_bps: per_second(counted.bytes_in_time[id.index()] as f64 * 8.0),
            windows: windows(id, class),
            ..ClassSummary::new(class, &books.accounts()[id.index()])
        }));
        let hop = HopSummary {
            link: "link".to_owned(),
            scheduler: plan.scheduler.name().to_owned(),
            rate_bps: plan.link.rate.0,
            utilization: per_second(busy.as_secs_f64()),
            scheduler_bytes: Some(counted.footprint),
            autorate,
            classes,
            ..HopSummary::default()
        };
        let (traffic_ns, duration_ns, hops) = (traffic.0, end.0, vec![hop]);
        Outcome {
            summary: Summary { traffic_ns, duration_ns, hops, ..Summary::new(plan, run.seed) },
            remarks: hosts.sources.iter().map(|source| source.feed.remarks()).sum(),
        }
    }
}

/// What was counted in a run.
pub(super) struct Measurement<'a> {
    pub run: &'a NetworkRun<'a>,
    pub of: &'a PartResults,
}

impl Measurement<'_> {
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
            hop_departures: self.of.departures,
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
        let accounts = self.of.hops.iter().map(|hop| &hop.closed.books.accounts()[id.index()]);
        let marked = accounts.map(Account::marked).sum();
        let sent = flows.iter().map(|flow| flow.books.sent).sum();
        let dropped = flows.iter().map(|flow| flow.books.dropped).sum();
        (!flows.is_empty()).then(|| EndToEnd {
            name: self.run.on.plan.classes[id.index()].name.clone(),
            place,
            flows: flows.len() as u64,
            sent,
            dropped,
            loss_ratio: loss_ratio(dropped, sent),
            marked,
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
        let all = self.run.on.network.hops().zip(&self.of.hops);
        let used = all.filter(|(_, of)| of.closed.books.accounts().iter().any(|of| of.arrived > 0));
        used.map(|(hop, counts)| self.hop(hop, counts)).collect()
    }

    fn hop(&self, hop: Hop, counts: &HopCounts) -> HopSummary {
        let on = self.run.on;
        let link = on.network.link(hop);
        let [from, to] = on.network.ends(hop).map(str::to_string);
        let ClosedBooks { books, busy, windows: watched } = &counts.closed;
        let accounts = (0..).map(ClassId).zip(&on.plan.classes).zip(books.accounts());
        let sent_or_dropped = accounts.filter(|(_, account)| account.arrived > 0);
        // Streams are in step where they set out, and nothing is proved of them behind that.
        let windows = |id: ClassId, class: &Class| {
            WindowSummary::new(class, watched.as_ref()?.class(id)?, false)
        };
        let time = self.seconds() * counts.outputs as f64;
        let per_time = |amount: f64| if time > 0.0 { amount / time } else { 0.0 };
        let class = |((id, class), account)| {
            let summary = ClassSummary::new(class, account);
            let throughput_bps = per_time(summary.bytes_sent as f64 * 8.0);
            ClassSummary { throughput_bps, windows: windows(id, class), ..summary }
        };
        HopSummary {
            link: link.name.clone(),
            from,
            to,
            scheduler: on.plan.scheduling_at(hop).scheduler.name().to_string(),
            rate_bps: link.rate.0,
            utilization: per_time(busy.as_secs_f64()),
            lost: counts.lost,
            duplicated: counts.duplicated,
            scheduler_bytes: None,
            frames: counts.frames,
            autorate: counts.autorate.clone(),
            classes: sent_or_dropped.map(class).collect(),
        }
    }
}
