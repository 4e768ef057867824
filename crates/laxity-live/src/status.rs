//! What is forwarded and what was measured of it, at one moment, in the form in which it is shown.

use std::collections::BTreeMap;

use laxity::port::{Account, Delays};
use laxity::scheduler::DropReason;
use laxity_plan::Plan;
use laxity_plan::model::Class;
use serde::{Deserialize, Serialize};

use crate::recorder::Measured;

mod network;

pub use network::{FramesStatus, JitterStatus, NetworkStatus, PassageStatus};

/// A link at one moment. Counters count since the start or, under a plan, since it is followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "made from what is measured, and read by who asks")]
pub struct Status {
    /// Laxity's version.
    pub version: String,
    /// How long it has been at work.
    pub uptime_ns: u64,
    /// Whether the thread that forwards has a real-time priority.
    pub real_time: bool,
    /// Plans that were followed after the first ones.
    pub reloads: u64,
    /// Plans that were refused while it was at work.
    pub reloads_refused: u64,
    /// Events that came too fast to be counted: all else is short of them.
    pub events_lost: u64,
    /// The interfaces, where frames go in and where they go out.
    pub interfaces: Vec<InterfaceStatus>,
    /// The directions that have a plan; of routers all ways through them, as one.
    pub ways: Vec<WayStatus>,
    /// Of routers: what is more to be said than of a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkStatus>,
}

/// An interface at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct InterfaceStatus {
    /// Its name; of a router's behind that of the port, as in `r1:r2=eth0`.
    pub name: String,
    /// Whether frames pass.
    pub up: bool,
    /// Frames taken in.
    pub received: u64,
    /// Frames handed to it.
    pub sent: u64,
    /// Frames that were lost at it, by reason; reasons that did not occur are left out.
    pub lost: BTreeMap<String, u64>,
}

/// One direction at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct WayStatus {
    /// `out` for what arrives where frames go in, `back` for the other, `network` for routers.
    pub way: String,
    /// The plan's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The discipline, as `--scheduler` names it.
    pub scheduler: String,
    /// The link's rate in bits a second; in a network that of links which have none of their own.
    pub rate_bps: u64,
    /// How late the link chose what to send: after it could have. Absent for routers.
    pub late: Option<DelayStatus>,
    /// Packets that were sent later than their bound and all lateness before them allow; of routers those
    /// that were in their frames everywhere and took longer than their bound.
    pub broken: u64,
    /// The classes that have packets, in the plan's order.
    pub classes: Vec<ClassStatus>,
}

/// One class at one moment. Fields are those of `summary.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct ClassStatus {
    /// Its name.
    pub name: String,
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that were sent.
    pub sent: u64,
    /// Packets that were not, by reason; reasons that did not occur are left out.
    pub dropped: BTreeMap<String, u64>,
    /// Packets that wait.
    pub queued: u64,
    /// Bytes of the packets sent, as the link counts them.
    pub bytes_sent: u64,
    /// From a packet's last bit in to its last bit out; absent when nothing was sent.
    pub delay_ns: Option<DelayStatus>,
    /// The promised delay, for a real-time class.
    pub deadline_ns: Option<u64>,
    /// Packets sent later than that, without those demoted to best effort.
    pub deadline_misses: u64,
    /// The delay that the admission test proves, when it does.
    pub bound_ns: Option<u64>,
    /// Packets sent later than that, whether the link was late or not, without those demoted.
    pub bound_misses: u64,
}

/// A distribution of times in ns. All but percentiles and buckets is exact; these are at most 0.8 % too
/// high.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct DelayStatus {
    pub count: u64,
    pub sum: u128,
    pub min: u64,
    pub mean: f64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub p99_9: u64,
    pub max: u64,
    /// How many were at most so long, for each of [`DelayStatus::EDGES`].
    pub at_most: Vec<u64>,
}

impl DelayStatus {
    /// Edges of the buckets in ns: 1, 2 and 5 in each power of ten from 10 us to 1 s.
    pub const EDGES: [u64; 16] = [
        10_000,
        20_000,
        50_000,
        100_000,
        200_000,
        500_000,
        1_000_000,
        2_000_000,
        5_000_000,
        10_000_000,
        20_000_000,
        50_000_000,
        100_000_000,
        200_000_000,
        500_000_000,
        1_000_000_000,
    ];

    /// The distribution; none of nothing.
    pub fn of(delays: &Delays) -> Option<DelayStatus> {
        if delays.count() == 0 {
            return None;
        }
        let mut buckets = delays.buckets().peekable();
        let mut below = 0;
        let at_most = Self::EDGES.map(|edge| {
            while let Some((_, count)) = buckets.next_if(|(upper, _)| *upper <= edge) {
                below += count;
            }
            below
        });
        Some(DelayStatus {
            count: delays.count(),
            sum: delays.sum(),
            min: delays.min().0,
            mean: delays.mean(),
            p50: delays.quantile(1, 2).0,
            p90: delays.quantile(9, 10).0,
            p99: delays.quantile(99, 100).0,
            p99_9: delays.quantile(999, 1000).0,
            max: delays.max().0,
            at_most: at_most.to_vec(),
        })
    }
}

impl WayStatus {
    /// What was measured of a direction while it followed a plan.
    pub fn of(way: &str, plan: &Plan, measured: &Measured) -> WayStatus {
        let classes = plan
            .leaves()
            .map(|(id, class)| ClassStatus::of(class, &measured.accounts()[id.index()]));
        WayStatus {
            way: way.to_string(),
            title: plan.title.clone(),
            scheduler: plan.scheduler.name().to_string(),
            rate_bps: plan.link.rate.0,
            late: DelayStatus::of(&measured.late),
            broken: measured.broken,
            classes: classes.collect(),
        }
    }
}

impl ClassStatus {
    fn of(class: &Class, account: &Account) -> ClassStatus {
        let dropped = DropReason::ALL.iter().zip(account.dropped()).filter(|(_, count)| *count > 0);
        ClassStatus {
            name: class.name.clone(),
            arrived: account.arrived,
            sent: account.sent,
            dropped: dropped.map(|(reason, count)| (reason.name().to_string(), count)).collect(),
            queued: account.queued,
            bytes_sent: account.bytes_sent,
            delay_ns: DelayStatus::of(&account.delay),
            deadline_ns: account.promise.deadline.map(|deadline| deadline.0),
            deadline_misses: account.deadline_misses,
            bound_ns: account.promise.bound.map(|bound| bound.0),
            bound_misses: account.bound_misses,
        }
    }
}
