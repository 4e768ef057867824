//! What was measured of a class, at an output and from end to end.

use std::collections::BTreeMap;

use laxity::histogram::Delays;
use laxity::port::Account;
use laxity::scheduler::DropReason;
use laxity_plan::model::Class;
use serde::Serialize;

use super::{TcpSummary, WindowSummary, is_zero};

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
    /// The share of the packets that arrived which were dropped, 0 to 1 (RFC 7680).
    pub loss_ratio: f64,
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
    /// The share of the packets that set out which were dropped or lost, 0 to 1 (RFC 7680).
    pub loss_ratio: f64,
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

/// What is measured alike of a class at an output and from end to end.
#[derive(Clone, Copy, Debug)]
pub struct Measures<'a> {
    /// The name of the class.
    pub class: &'a str,
    /// How its packets were delayed; absent when none was sent.
    pub delay: Option<&'a DelaySummary>,
    /// The delay that is proved, in ns.
    pub bound_ns: Option<u64>,
    /// The delay that is promised, in ns.
    pub deadline_ns: Option<u64>,
    /// Packets that took longer than promised.
    pub missed: u64,
    /// Packets that took longer than proved.
    pub beyond_bound: u64,
    /// Packets that queues marked as having met congestion (ECN).
    pub marked: u64,
    /// The share of packets that were dropped or lost, 0 to 1.
    pub loss_ratio: f64,
}

impl Measures<'_> {
    /// Packets that missed the deadline, if the class has one.
    pub fn missed_deadline(&self) -> Option<u64> {
        self.deadline_ns.map(|_| self.missed)
    }

    /// Whether any packet took longer than its deadline or its bound.
    pub fn is_late(&self) -> bool {
        self.missed + self.beyond_bound > 0
    }
}

macro_rules! measures {
    ($($of:ty),*) => {$(
        impl<'a> From<&'a $of> for Measures<'a> {
            fn from(class: &'a $of) -> Self {
                Measures {
                    class: &class.name,
                    delay: class.delay_ns.as_ref(),
                    bound_ns: class.bound_ns,
                    deadline_ns: class.deadline_ns,
                    missed: class.deadline_misses,
                    beyond_bound: class.bound_misses,
                    marked: class.marked,
                    loss_ratio: class.loss_ratio,
                }
            }
        }
    )*};
}

measures!(ClassSummary, EndToEnd);

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

impl ClassSummary {
    pub(crate) fn new(class: &Class, account: &Account) -> ClassSummary {
        let reasons = DropReason::ALL.into_iter().map(DropReason::name).zip(account.dropped());
        let dropped = account.dropped().iter().sum();
        ClassSummary {
            name: class.name.clone(),
            parent: None,
            arrived: account.arrived,
            sent: account.sent,
            dropped: reasons.filter(|(_, count)| *count > 0).collect(),
            loss_ratio: loss_ratio(dropped, account.arrived),
            marked: account.marked(),
            queued: account.arrived - account.sent - dropped,
            nonconforming: 0,
            bytes_sent: account.bytes_sent,
            throughput_bps: 0.0,
            delay_ns: DelaySummary::new(&account.delay),
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
    pub(crate) fn new(delays: &Delays) -> Option<DelaySummary> {
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

/// The share of packets that were lost; 0 if there were none at all.
pub fn loss_ratio(lost: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { lost as f64 / all as f64 }
}
