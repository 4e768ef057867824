//! What is forwarded or watched and what was measured of it, at one moment, in the form in which it
//! is shown. Who measures from outside does not know all of it; what is not known is absent.

mod delay;
pub mod history;
pub mod interval;
mod moment;
mod network;
mod past;
mod promised;
mod rate;
mod second;
mod talkers;
mod waits;
mod watch;
mod wire;

use std::collections::BTreeMap;

use laxity::port::Account;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_answers::verdict::LiveVerdict;
use laxity_answers::verdict::live::is_held_up;
use laxity_plan::Plan;
use laxity_plan::model::Class;
use serde::{Deserialize, Serialize};

use crate::bridge::WayMeasurement;

pub use delay::DelayStatus;
pub(crate) use delay::FineDelays;
pub use moment::{DangerCause, MomentStatus};
pub use network::{FramesStatus, JitterStatus, NetworkStatus, PassageStatus};
pub use past::{PastClass, PastMoment, PastPoint, PastSpan, PastStatus};
pub(crate) use promised::PromisedBoard;
pub use promised::PromisedStatus;
pub use rate::{RateSecondStatus, RateStatus};
pub use second::SecondStatus;
pub use talkers::{EndpointsStatus, FlowStatus, HostStatus, TalkersStatus};
pub use waits::{Delayer, WaitStatus};
pub use watch::{ClassWatch, WayWatch};
pub use wire::WireStatus;

/// A link at one moment. Counters count since the start or, under a plan, since it is followed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "made from what is measured, and read by who asks")]
pub struct Status {
    /// Laxity's version.
    pub version: String,
    /// How long it has been at work.
    pub uptime_ns: u64,
    /// Whether the thread that forwards has a real-time priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_time: Option<bool>,
    /// Plans that were followed after the first ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reloads: Option<u64>,
    /// Plans that were refused while it was at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reloads_refused: Option<u64>,
    /// Orders for [reservations](crate::reservations), by their answer: `granted`, `done`, or the
    /// reason against them. Answers that did not occur are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub orders: BTreeMap<String, u64>,
    /// What is promised by [reservations](crate::reservations), where they are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised: Option<PromisedStatus>,
    /// Events that came too fast to be counted: all else is short of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_lost: Option<u64>,
    /// How often the host's connections changed faster than was heard, so that they were read anew.
    /// Known where frames are the host's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_unheard: Option<u64>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<bool>,
    /// Frames taken in, or seen to arrive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received: Option<u64>,
    /// Frames handed to it, or seen to be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
    /// Frames that who watches missed, as they were not looked at fast enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unseen: Option<u64>,
    /// The longest that a frame waited in its own queue, in ns, of those that were looked at: one
    /// in 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_ns: Option<u64>,
    /// Frames that were lost at it, by reason; reasons that did not occur are left out.
    pub lost: BTreeMap<String, u64>,
}

/// One direction at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct WayStatus {
    /// `out` for what arrives where frames go in, `back` for the other, `network` for routers,
    /// `watched` for what is measured from outside.
    pub way: String,
    /// The plan's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The discipline, as `--scheduler` names it.
    pub scheduler: String,
    /// The link's rate in bits a second; in a network that of links which have none of their own.
    pub rate_bps: u64,
    /// How that is found, if nobody knows it; `rate_bps` is then the least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<RateStatus>,
    /// How late the link chose what to send: after it could have. Absent for routers, and not known
    /// from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<DelayStatus>,
    /// Packets that were sent later than their bound and all lateness before them allow, of classes
    /// that have not forfeited it; of routers those that were in their frames everywhere and took
    /// longer than their bound; from outside those that took longer than their bound.
    pub broken: u64,
    /// The longest that a frame waited in the queue of the interface where it left, in ns, of those
    /// that were looked at since the start. No bound counts on that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_ns: Option<u64>,
    /// Whether that was longer than a bound that was missed: packets were not within their bounds,
    /// though they were when they were handed over.
    #[serde(default)]
    pub held_up: bool,
    /// What became of packets behind the link, where its wire is emulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<WireStatus>,
    /// What only who measures from outside tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watched: Option<WayWatch>,
    /// Which hosts and flows fill the link now. Absent for routers, from outside, in the first
    /// second of a plan, and of what is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub talkers: Option<TalkersStatus>,
    /// What to change in the plan, or how much could be, in a sentence that names what it follows
    /// from. Absent where there is nothing to say, for routers, from outside, and of what is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// The last 20 moments at most in which classes used more than 80 % of their bounds under the
    /// plan, the last first. Not known for routers and from outside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moments: Vec<MomentStatus>,
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
    /// Packets that arrived and broke the class's arrival curve, whatever became of them.
    #[serde(default)]
    pub nonconforming: u64,
    /// Packets that were demoted to best effort, of those that were sent or dropped. Not known from
    /// outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demoted: Option<u64>,
    /// Packets that wait. Not known from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued: Option<u64>,
    /// Bytes of the packets sent, as the link counts them.
    pub bytes_sent: u64,
    /// From a packet's last bit in to its last bit out, or from one tap to the other; absent when
    /// nothing was sent.
    pub delay_ns: Option<DelayStatus>,
    /// The promised delay, for a real-time class.
    pub deadline_ns: Option<u64>,
    /// Packets sent later than that, without those demoted to best effort.
    pub deadline_misses: u64,
    /// The delay that the admission test proves, when it does.
    pub bound_ns: Option<u64>,
    /// Packets sent later than that, whether the link was late or not, without those demoted.
    pub bound_misses: u64,
    /// Those of the packets that broke their promise ([`WayStatus::broken`]) that are of the class.
    #[serde(default)]
    pub broken: u64,
    /// Whether the class has forfeited its promise: it broke its arrival curve, and the plan only
    /// counts that, so that the packets which broke it travel with the others.
    #[serde(default)]
    pub forfeit: bool,
    /// What its packets waited for. Absent for routers, for plans with more than 64 classes, and
    /// from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitStatus>,
    /// What it got in the last second. Absent for routers, from outside, in the first second of a
    /// plan, and of what is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<SecondStatus>,
    /// What only who measures from outside tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watched: Option<ClassWatch>,
}

impl ClassStatus {
    /// Packets that were later than they may be, whatever excuses them; `None` where nothing is
    /// promised.
    pub fn misses(&self) -> Option<u64> {
        self.bound_ns.or(self.deadline_ns)?;
        Some(self.deadline_misses.max(self.bound_misses))
    }

    /// Whether some of those broke a promise: a proved one that its sender has not forfeited and
    /// that no lateness excuses, or one that is not proved.
    pub fn is_broken(&self) -> bool {
        let is_proved = self.bound_ns.is_some();
        self.broken > 0 || !is_proved && !self.forfeit && self.misses() > Some(0)
    }

    /// Whether packets were dropped for another reason than that their sender broke its contract.
    pub fn has_lost(&self) -> bool {
        let contract = DropReason::Contract.name();
        self.dropped.iter().any(|(reason, count)| *count > 0 && reason != contract)
    }

    /// What is said of it when it leaves.
    pub(crate) fn farewell(&self) -> String {
        let ClassStatus { name, sent, deadline_misses, .. } = self;
        let longest = self.delay_ns.as_ref().map(|delay| Nanos(delay.max).to_string());
        let longest = longest.map(|longest| format!(", the longest took {longest}"));
        let bound = self.bound_ns.map(|bound| format!(" (bound {})", Nanos(bound)));
        let late = self.deadline_ns.map(|_| format!(", {deadline_misses} were late"));
        let parts: String = [longest, bound, late].into_iter().flatten().collect();
        format!("`{name}` has left: {sent} packets were sent{parts}")
    }
}

impl Status {
    /// Whether nothing stands against any direction under its present plan, which was admitted.
    pub fn is_kept(&self) -> bool {
        self.ways.iter().all(|way| way.verdict(self.network.as_ref(), None).is_kept())
    }
}

impl WayStatus {
    /// The rate at which it sends now, in bits a second.
    pub fn present_rate_bps(&self) -> u64 {
        self.found.as_ref().map_or(self.rate_bps, |found| found.rate_bps)
    }

    /// Judges this direction, or these ways through routers, under a plan that is `admitted` or
    /// not.
    pub fn verdict(&self, network: Option<&NetworkStatus>, admitted: Option<bool>) -> LiveVerdict {
        LiveVerdict {
            admitted,
            broken: self.broken,
            held_up: self.held_up,
            in_frames: network.is_none_or(|network| network.kept),
        }
    }

    /// What was measured of a direction while it followed a plan.
    pub fn new(way: &str, plan: &Plan, measured: &WayMeasurement) -> WayStatus {
        let classes = plan.leaves().map(|(id, class)| {
            let account = &measured.accounts()[id.index()];
            ClassStatus {
                broken: measured.broken_in(id),
                forfeit: measured.is_forfeit(id),
                ..ClassStatus::new(class, account, measured.nonconforming(id))
            }
        });
        let classes: Vec<_> = classes.collect();
        let bounds =
            classes.iter().filter_map(|class| Some((Nanos(class.bound_ns?), class.bound_misses)));
        WayStatus {
            late: DelayStatus::new(&measured.late),
            broken: measured.broken,
            held_ns: measured.held.map(|held| held.0),
            held_up: is_held_up(measured.held, bounds),
            wire: plan.link.wire.map(|_| WireStatus::new(&measured.wire)),
            ..WayStatus::from_classes(way, plan, classes)
        }
    }

    /// A way on which these classes of a plan are all that is known.
    pub(crate) fn from_classes(way: &str, plan: &Plan, classes: Vec<ClassStatus>) -> WayStatus {
        WayStatus {
            way: way.to_string(),
            title: plan.title.clone(),
            scheduler: plan.scheduler.name().to_string(),
            rate_bps: plan.link.whole_rate().0,
            found: None,
            late: None,
            broken: 0,
            held_ns: None,
            held_up: false,
            wire: None,
            watched: None,
            talkers: None,
            advice: None,
            moments: Vec::new(),
            classes,
        }
    }
}

/// The counts that are not zero, by reason.
pub(crate) fn by_reason<'r>(
    counts: impl IntoIterator<Item = (&'r str, u64)>,
) -> BTreeMap<String, u64> {
    let occurred = counts.into_iter().filter(|(_, count)| *count > 0);
    occurred.map(|(reason, count)| (reason.to_string(), count)).collect()
}

impl ClassStatus {
    fn new(class: &Class, account: &Account, nonconforming: u64) -> ClassStatus {
        let reasons = DropReason::ALL.iter().map(|reason| reason.name());
        ClassStatus {
            name: class.name.clone(),
            arrived: account.arrived,
            sent: account.sent,
            dropped: by_reason(reasons.zip(account.dropped())),
            nonconforming,
            demoted: Some(account.demoted),
            queued: Some(account.queued),
            bytes_sent: account.bytes_sent,
            delay_ns: DelayStatus::new(&account.delay),
            deadline_ns: account.promise.deadline.map(|deadline| deadline.0),
            deadline_misses: account.deadline_misses,
            bound_ns: account.promise.bound.map(|bound| bound.0),
            bound_misses: account.bound_misses,
            broken: 0,
            forfeit: false,
            waits: None,
            second: None,
            watched: None,
        }
    }
}
