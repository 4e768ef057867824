//! Calls that come and go, simulated with all that is promised.

mod lateness;

use std::sync::Arc;

use laxity::packet::Packet;
use laxity::scheduler::DropReason;
use laxity::units::{NANOBITS_PER_BYTE, Nanos};
use laxity_answers::reservations::calls::{
    Calls, CallsError, CallsSummary, GrantedCall, SentSummary, Stage,
};
use laxity_plan::Plan;
use laxity_plan::calls::PlanWithCalls;
use laxity_plan::model::Hop;
use laxity_sim::Progress;
use laxity_sim::link::{Run, Successive};
use laxity_sim::record::{Fate, Observer, Record};

use crate::{Error, Traffic};
use lateness::Lateness;

/// Lets the calls of a plan's requests ask for reservations, and simulates all that is sent. A
/// request's class is there once for each call that was granted, for as long as it lasts.
///
/// # Errors
/// If the plan has no requests or is refused without any call, too many ask, or `progress` stops
/// it.
pub fn run_calls(
    plan: &Plan,
    traffic: &Traffic<'_>,
    progress: Progress<'_>,
) -> Result<CallsSummary, Error> {
    if traffic.arrivals.is_some() || !traffic.without.is_empty() {
        return Err(Error::question("calls send what the plan's sources say, all of it"));
    }
    let seed = traffic.seed(plan);
    let duration = traffic.duration(plan)?.unwrap_or(crate::DEFAULT_DURATION);
    // A plan without sources has no duration of its own to be held against the warm-up.
    let traffic = Traffic { duration: Some(duration), ..*traffic };
    traffic.duration(plan)?;
    let calls = Calls::draw(plan, duration, seed).map_err(|error| match error {
        CallsError::Refused(reasons) => {
            let why = laxity_report::words::statement(&reasons);
            Error::question(format!("the plan is refused even without a call: {why}"))
        }
        error => Error::question(error.to_string()),
    })?;
    let calls = Arc::new(calls);
    let sent = if plan.sources.is_empty() {
        None
    } else {
        Some(simulate(plan, &calls, duration, seed, progress)?)
    };
    Ok(CallsSummary::new(plan, &calls, (duration, seed), sent))
}

/// What the calls of each request sent, and each class that is of none.
fn simulate(
    plan: &Plan,
    calls: &Arc<Calls>,
    duration: Nanos,
    seed: u64,
    progress: Progress<'_>,
) -> Result<(Vec<SentSummary>, Vec<SentSummary>), Error> {
    let stage = Arc::new(Stage::new(plan, Arc::clone(calls)));
    let changes = Stage::schedulers(Arc::clone(&stage), seed);
    let Some(scheduler) = Successive::new(changes, plan.link.transmitter()) else {
        return Err(Error::NothingArrives);
    };
    let mut tally = Tally::new(Arc::clone(&stage));
    let run = Run { plan: &stage.outside.plan, duration: Some(duration), seed, feeds: Vec::new() };
    run.with_sources()?.simulate_on(Box::new(scheduler), &mut tally, progress)?;
    Ok(tally.sent(plan, duration))
}

/// Counts what is sent for each request, and for each class that is of none.
struct Tally {
    measured_from: Nanos,
    lateness: Lateness,
    /// Of each class outside where it counts, and what its packets are promised.
    classes: Vec<(usize, Option<Nanos>)>,
    /// Of each request, then of each class of the plan.
    counts: Vec<Count>,
    requests: usize,
}

#[derive(Clone, Default)]
struct Count {
    packets: u64,
    bytes: u64,
    dropped: u64,
    lost: u64,
    longest: Option<Nanos>,
    promised: Option<Nanos>,
    excused: u64,
    late: u64,
}

impl Tally {
    fn new(stage: Arc<Stage>) -> Self {
        let Stage { plan, calls, outside: PlanWithCalls { calls: of_calls, others: moved, .. } } =
            &*stage;
        let requests = plan.requests.len();
        let mut classes = vec![(0, None); of_calls.len() + moved.iter().flatten().count()];
        for (class, GrantedCall { call, bound }) in of_calls.iter().zip(&calls.granted) {
            classes[class.index()] = (call.request, *bound);
        }
        for (number, outside) in moved.iter().enumerate() {
            if let Some(outside) = outside {
                classes[outside.index()] = (requests + number, plan.classes[number].deadline);
            }
        }
        let counts = vec![Count::default(); requests + moved.len()];
        let measured_from = plan.run.warm_up;
        Tally { measured_from, lateness: Lateness::new(stage), classes, counts, requests }
    }

    fn sent(self, plan: &Plan, duration: Nanos) -> (Vec<SentSummary>, Vec<SentSummary>) {
        let measured = duration.saturating_sub(self.measured_from).0.max(1) as f64;
        let summary = |count: &Count, class: usize| SentSummary {
            class: plan.classes[class].name.clone(),
            packets: count.packets,
            dropped: count.dropped,
            lost: count.lost,
            throughput_bps: count.bytes as f64 * NANOBITS_PER_BYTE as f64 / measured,
            longest_ns: count.longest.map(|Nanos(longest)| longest),
            promised_ns: count.promised.map(|Nanos(promised)| promised),
            excused: count.excused,
            late: count.late,
        };
        let (of_requests, others) = self.counts.split_at(self.requests);
        let of_requests = of_requests.iter().zip(&plan.requests);
        let is_other = |class: usize| {
            let is_of_request = plan.requests.iter().any(|one| one.class.index() == class);
            plan.classes[class].is_leaf() && !is_of_request
        };
        let others = others.iter().enumerate().filter(|(class, _)| is_other(*class));
        (
            of_requests.map(|(count, request)| summary(count, request.class.index())).collect(),
            others.map(|(class, count)| summary(count, class)).collect(),
        )
    }
}

impl Observer for Tally {
    fn advance(&mut self, now: Nanos) {
        self.lateness.follow(now);
    }

    fn arrived(&mut self, packet: &Packet, _: Option<Hop>) {
        self.lateness.arrived(packet);
    }

    fn record(&mut self, record: &Record) {
        let packet = &record.packet;
        let (number, promised) = self.classes[packet.class.index()];
        let allowance = self.lateness.left(record, promised);
        if packet.arrival < self.measured_from {
            return;
        }
        let count = &mut self.counts[number];
        count.promised = count.promised.max(promised);
        match record.fate {
            Fate::Sent { departure, .. } => {
                let delay = departure - packet.arrival;
                count.packets += 1;
                count.bytes += u64::from(packet.length);
                count.longest = count.longest.max(Some(delay));
                let over = promised.map_or(Nanos::ZERO, |one| delay.saturating_sub(one));
                if over > Nanos::ZERO && !packet.demoted {
                    *if over > allowance { &mut count.late } else { &mut count.excused } += 1;
                }
            }
            Fate::Dropped(reason) => {
                use DropReason::{Contract, Demoted, TooLong};
                count.dropped += 1;
                count.lost += u64::from(!matches!(reason, Contract | Demoted | TooLong));
            }
            Fate::Queued => {}
        }
    }
}
