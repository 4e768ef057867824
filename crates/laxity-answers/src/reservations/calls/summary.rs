//! What became of calls, and of what they sent.

use laxity::units::{Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::model::RequestSpec;
use serde::Serialize;

use super::{AskedCall, Calls, Change, RequestCalls};
use crate::Reason;

/// What became of calls in a simulation.
#[derive(Clone, Debug, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever reports")]
pub struct CallsSummary {
    /// The discipline.
    pub scheduler: String,
    /// The seed of every random draw.
    pub seed: u64,
    /// How long calls came, in ns.
    pub duration_ns: u64,
    /// What came before is not counted, in ns.
    pub warm_up_ns: u64,
    /// The calls of each request.
    pub requests: Vec<RequestSummary>,
    /// What the other classes sent.
    pub classes: Vec<SentSummary>,
    /// The mean part of the link's rate that calls were promised.
    pub promised: f64,
    /// The mean part of it at which they sent; absent if the plan has no sources.
    pub used: Option<f64>,
    /// The schedulable region of two requests: the most calls of the second that fit beside each
    /// number of the first, from none on; empty where it is not worked out.
    pub region: Vec<u32>,
    /// Whether no packet was later than promised.
    pub kept: bool,
    /// Whether what has ended may be promised again while the link runs.
    pub settles: bool,
    /// How many calls of each request there were, from each time on.
    #[serde(skip)]
    pub at_once: Vec<(Nanos, Vec<u32>)>,
    /// All that asked, in that order, and what they were answered.
    #[serde(skip)]
    pub asked: Vec<AskedCall>,
}

/// The calls of one request.
#[derive(Clone, Debug, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever reports")]
pub struct RequestSummary {
    /// Calls that asked after the warm-up.
    pub offered: u64,
    /// Those of them that were granted.
    pub granted: u64,
    /// The part of them that was refused; absent if none asked.
    pub blocking: Option<f64>,
    /// What Erlang's loss formula has instead, where it applies.
    pub erlang_b: Option<f64>,
    /// The offered load in erlangs, where that formula applies.
    pub erlangs: Option<f64>,
    /// How many fit beside no others.
    pub alone: u32,
    /// The most that there were at once.
    pub most: u32,
    /// The mean of those that there were at once.
    pub mean: f64,
    /// Why the first was refused.
    pub refused: Vec<Reason>,
    /// What they sent.
    #[serde(flatten)]
    pub sent: SentSummary,
}

/// What a class sent, or all calls of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever reports")]
pub struct SentSummary {
    /// The class.
    pub class: String,
    /// Packets that were sent.
    pub packets: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Those of them that had kept to their contract.
    pub lost: u64,
    /// The mean rate at which they were sent.
    pub throughput_bps: f64,
    /// The longest delay of any, in ns; absent if none was sent.
    pub longest_ns: Option<u64>,
    /// The delay that each packet is promised, in ns.
    pub promised_ns: Option<u64>,
    /// Packets that took longer, but by no more than the link was late. A link counts as late from
    /// when its plan changes with packets queued until it is idle.
    pub excused: u64,
    /// Packets that took longer by more than that.
    pub late: u64,
}

impl SentSummary {
    /// Whether a packet was later than promised, or lost though it was promised a delay.
    pub fn is_broken(&self) -> bool {
        self.late > 0 || self.promised_ns.is_some() && self.lost > 0
    }
}

impl CallsSummary {
    /// The summary of calls that came for a time, with what was sent: for each request, then for
    /// each class that is of none. `None` if nothing was simulated.
    pub fn new(
        plan: &Plan,
        calls: &Calls,
        (duration, seed): (Nanos, u64),
        sent: Option<(Vec<SentSummary>, Vec<SentSummary>)>,
    ) -> CallsSummary {
        let measured = duration.saturating_sub(plan.run.warm_up).0.max(1) as f64;
        let is_simulated = sent.is_some();
        let (of_requests, classes) = sent.unwrap_or_default();
        let part = |rate: f64| rate / plan.link.rate.0 as f64;
        let used = of_requests.iter().map(|sent| sent.throughput_bps).sum::<f64>();
        let at_once = calls.at_once();
        let mut promised = 0.0;
        let mut of_requests = of_requests.into_iter();
        let request = |(request, spec): (&RequestCalls, &RequestSpec)| {
            let mean = request.nanoseconds as f64 / measured;
            let Rate(rate) = request.rate;
            promised += mean * rate as f64;
            let class = plan.classes[spec.class.index()].name.clone();
            let nothing = SentSummary { class, ..SentSummary::default() };
            RequestSummary {
                offered: request.offered,
                granted: request.granted,
                blocking: request.blocking(),
                erlang_b: request.erlang_b().filter(|_| calls.settles),
                erlangs: request.erlangs,
                alone: request.alone,
                most: request.most,
                mean,
                refused: request.refused.clone(),
                sent: of_requests.next().unwrap_or(nothing),
            }
        };
        let requests: Vec<_> = calls.requests.iter().zip(&plan.requests).map(request).collect();
        let all = requests.iter().map(|request| &request.sent).chain(&classes);
        CallsSummary {
            scheduler: plan.scheduler.name().to_string(),
            seed,
            duration_ns: duration.0,
            warm_up_ns: plan.run.warm_up.0,
            kept: !all.into_iter().any(SentSummary::is_broken),
            settles: calls.settles,
            region: calls.region.clone(),
            requests,
            classes,
            promised: part(promised),
            used: is_simulated.then_some(part(used)),
            at_once,
            asked: calls.asked.clone(),
        }
    }
}

impl Calls {
    /// How many calls of each request there are from each time on.
    fn at_once(&self) -> Vec<(Nanos, Vec<u32>)> {
        let counts = |change: &Change| {
            let mut counts = vec![0; self.requests.len()];
            for call in change.calls().map(|call| self.granted[call].call) {
                counts[call.request] += u32::from(call.until > change.at);
            }
            (change.at, counts)
        };
        self.changes.iter().map(counts).collect()
    }
}
