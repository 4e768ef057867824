//! What a run measured, in the form of `summary.json`.

use std::collections::BTreeMap;

use laxity::histogram::Delays;
use laxity::packet::ClassId;
use laxity::port::Account;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_plan::model::{Class, Plan};
use serde::Serialize;

use crate::source::Remarks;
use crate::windows::{ClassWindows, Windows};

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Outcome<S> {
    /// What was measured.
    pub summary: S,
    /// What the recordings held besides arrivals.
    pub remarks: Remarks,
}

/// The results of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The plan's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Laxity's version.
    pub version: &'static str,
    /// The discipline, as `--scheduler` names it.
    pub scheduler: String,
    /// The seed of every random draw.
    pub seed: u64,
    /// How long traffic arrived: as long as it was asked for, or until the last packet of a
    /// recording.
    pub traffic_ns: u64,
    /// How long was measured, from the beginning: as long as traffic was asked for, or until the
    /// last packet of a recording had left.
    pub duration_ns: u64,
    /// Packets that arrived before are sent but not measured.
    pub warm_up_ns: u64,
    /// The link.
    pub link: LinkSummary,
    /// The most memory that the scheduler held for queues and history.
    pub scheduler_bytes: usize,
    /// The classes that have packets, in the plan's order.
    pub classes: Vec<ClassSummary>,
}

impl Summary {
    /// Whether any class is promised a delay or has a bound.
    pub fn promises_delay(&self) -> bool {
        self.classes.iter().any(|class| class.deadline_ns.or(class.bound_ns).is_some())
    }
}

/// The link over the measured time.
#[derive(Clone, Debug, Serialize)]
pub struct LinkSummary {
    /// Bits a second.
    pub rate_bps: u64,
    /// The share of the measured time in which it was sending, 0 to 1.
    pub utilization: f64,
}

/// One class over the measured time.
#[derive(Clone, Debug, Serialize)]
pub struct ClassSummary {
    /// Its name.
    pub name: String,
    /// The class that it is part of, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that were sent.
    pub sent: u64,
    /// Packets that were not, by reason; reasons that did not occur are left out.
    pub dropped: BTreeMap<&'static str, u64>,
    /// Packets that queues marked as having met congestion (ECN), sent or not.
    #[serde(skip_serializing_if = "is_zero")]
    pub marked: u64,
    /// Packets that were still waiting when the run ended.
    #[serde(skip_serializing_if = "is_zero")]
    pub queued: u64,
    /// Packets that broke the class's arrival curve, whatever became of them.
    pub nonconforming: u64,
    /// Bytes of the packets sent.
    pub bytes_sent: u64,
    /// Bits a second that were sent within the measured time.
    pub throughput_bps: f64,
    /// From a packet's last bit in to its last bit out; absent when nothing was sent.
    pub delay_ns: Option<DelaySummary>,
    /// The promised delay, for a real-time class.
    pub deadline_ns: Option<u64>,
    /// Packets sent later than that, or still waiting then when a network's run ended, without
    /// those demoted to best effort.
    pub deadline_misses: u64,
    /// The delay that the admission test proves, when it does.
    pub bound_ns: Option<u64>,
    /// Packets sent later than that, or still waiting then when a network's run ended, without
    /// those demoted to best effort.
    pub bound_misses: u64,
    /// The largest delay of a class that is promised one, without packets demoted to best effort.
    pub promised_max_ns: Option<u64>,
    /// The windows of its streams, for a class with a loss tolerance. Boxed, for few classes have
    /// one and a plan may have a million classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows: Option<Box<WindowSummary>>,
}

impl ClassSummary {
    /// Whether any packet took longer than its deadline or its bound.
    pub fn is_late(&self) -> bool {
        self.deadline_misses + self.bound_misses > 0
    }
}

/// The windows of a class's streams, packets counted in the order of their arrival.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WindowSummary {
    /// The tolerance, such as `1/80`.
    pub loss: String,
    /// How many alike streams the class has.
    pub streams: u32,
    /// Whether the admission test proves that no consecutive window is violated, and the streams
    /// were in step as the proof needs them.
    pub proved: bool,
    /// Packets that were sent or dropped.
    pub packets: u64,
    /// Those that were dropped or sent late.
    pub lost: u64,
    /// Complete windows, which slide: every packet of a stream from the length of its window on
    /// completes one.
    pub windows: u64,
    /// Windows in which more were lost than the tolerance allows.
    pub violations: u64,
    /// Complete windows that do not overlap, from a stream's first packet on.
    pub consecutive_windows: u64,
    /// Those in which more were lost than the tolerance allows.
    pub consecutive_violations: u64,
    /// The most consecutive packets of one stream that were lost.
    pub longest_run: u64,
    /// Deadlines that passed before their packet was begun, or dropped; with a `deadline` and no
    /// `gap`, packets that were late.
    pub deadline_misses: u64,
}

impl WindowSummary {
    /// What was counted of a class's windows; `None` if it has no tolerance.
    pub(crate) fn new(class: &Class, found: ClassWindows, proved: bool) -> Option<Box<Self>> {
        let loss = class.loss?;
        Some(Box::new(WindowSummary {
            loss: loss.to_string(),
            streams: class.count,
            proved,
            packets: found.counts.packets,
            lost: found.counts.lost,
            windows: found.counts.windows,
            violations: found.counts.violations,
            consecutive_windows: found.consecutive.windows,
            consecutive_violations: found.consecutive.violations,
            longest_run: found.counts.longest_run,
            deadline_misses: found.deadline_misses,
        }))
    }
}

/// The distribution of a class's delays in ns. Minimum, mean, deviation and maximum are exact;
/// percentiles are at most 0.8 % too high.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct DelaySummary {
    pub min: u64,
    pub mean: f64,
    pub stddev: f64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub p99_9: u64,
    pub max: u64,
}

/// What a run measured besides the port's books.
pub(crate) struct Measured<'a> {
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

impl Summary {
    pub(crate) fn new(
        plan: &Plan,
        seed: u64,
        accounts: &[Account],
        measured: &Measured<'_>,
    ) -> Summary {
        let seconds = measured.end.saturating_sub(plan.run.warm_up).as_secs_f64();
        let per_second = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        let windows = |id: ClassId, class: &Class| {
            let watched = measured.windows?;
            let proved = plan.keeps_windows() && watched.are_in_step();
            WindowSummary::new(class, watched.of(id)?, proved)
        };
        let classes = plan.leaves().map(|(id, class)| ClassSummary {
            parent: class.parent.map(|parent| plan.classes[parent.index()].name.clone()),
            nonconforming: measured.nonconforming[id.index()],
            throughput_bps: per_second(measured.bytes_in_time[id.index()] as f64 * 8.0),
            windows: windows(id, class),
            ..ClassSummary::of_account(class, &accounts[id.index()])
        });
        // Of the right size at once: there may be a million.
        let mut of_leaves = Vec::with_capacity(plan.leaves().count());
        of_leaves.extend(classes);
        Summary {
            title: plan.title.clone(),
            version: env!("CARGO_PKG_VERSION"),
            scheduler: plan.scheduler.name().to_string(),
            seed,
            traffic_ns: measured.traffic.0,
            duration_ns: measured.end.0,
            warm_up_ns: plan.run.warm_up.0,
            link: LinkSummary {
                rate_bps: plan.link.rate.0,
                utilization: per_second(measured.busy.as_secs_f64()),
            },
            scheduler_bytes: measured.footprint,
            classes: of_leaves,
        }
    }
}

pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ClassSummary {
    pub(crate) fn of_account(class: &Class, account: &Account) -> ClassSummary {
        let reasons = DropReason::ALL.into_iter().map(DropReason::name).zip(account.dropped());
        ClassSummary {
            name: class.name.clone(),
            parent: None,
            arrived: account.arrived,
            sent: account.sent,
            dropped: reasons.filter(|(_, count)| *count > 0).collect(),
            marked: account.marked(),
            queued: account.arrived - account.sent - account.dropped().iter().sum::<u64>(),
            nonconforming: 0,
            bytes_sent: account.bytes_sent,
            throughput_bps: 0.0,
            delay_ns: DelaySummary::of(&account.delay),
            deadline_ns: account.promise.deadline.map(|deadline| deadline.0),
            deadline_misses: account.deadline_misses,
            bound_ns: account.promise.bound.map(|bound| bound.0),
            bound_misses: account.bound_misses,
            promised_max_ns: account
                .promise
                .deadline
                .or(account.promise.bound)
                .map(|_| account.longest_promised.0),
            windows: None,
        }
    }
}

impl DelaySummary {
    pub(crate) fn of(delays: &Delays) -> Option<DelaySummary> {
        (delays.count() > 0).then(|| DelaySummary {
            min: delays.min().0,
            mean: delays.mean(),
            stddev: delays.variance().sqrt(),
            p50: delays.quantile(500, 1000).0,
            p90: delays.quantile(900, 1000).0,
            p99: delays.quantile(990, 1000).0,
            p99_9: delays.quantile(999, 1000).0,
            max: delays.max().0,
        })
    }
}
