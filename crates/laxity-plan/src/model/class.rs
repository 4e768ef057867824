//! Classes of traffic, and what each is promised and promises.

use std::fmt;

use laxity::packet::{ClassId, FlowId, Hosts};
use laxity::police::{Police, TokenBucket};
use laxity::sched::Late;
use laxity::sched::hfsc::Curves;
use laxity::units::{Bytes, Nanos};
use laxity::window::Loss;

use super::{LinkId, QueueSpec, SchedulerSpec, Scheduling};
use crate::matching::Match;

/// `[class.NAME]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name in the plan, in tables and in traces.
    pub name: String,
    /// The class that it is part of; `None` at the top.
    pub parent: Option<ClassId>,
    /// The classes that are part of it, in the order of the file; none for a leaf.
    pub children: Vec<ClassId>,
    /// The service curves that the plan gives it.
    pub curves: Curves,
    /// The delay that real-time packets are promised, in a network at every output; best effort
    /// without.
    pub deadline: Option<Nanos>,
    /// The delay that packets are promised over single links of a network, in place of `deadline`.
    pub deadline_over: Box<[(LinkId, Nanos)]>,
    /// The time frame of the period in which links of a network send the first packet, where the
    /// plan says it.
    pub frame_at: Box<[(LinkId, u32)]>,
    /// The delay that packets are promised over the whole of their path through a network.
    pub end_to_end: Option<Nanos>,
    /// Its side of the contract; always present when there is a deadline, but for networks.
    pub arrival: Option<Arrival>,
    /// Its share among classes that are shared by weight. Default 1.
    pub weight: Weight,
    /// Its level under static priority; 0 goes first, and what has none last of all.
    pub level: Option<u8>,
    /// The code point of its packets, of six bits. Default 0.
    pub dscp: u8,
    /// Between which hosts its flows go, as its sources say: each entry for the flows from the end
    /// of the one before to its own end.
    pub hosts: Box<[(FlowId, Hosts)]>,
    /// What happens to packets that break `arrival`. Default count.
    pub police: Police,
    /// How much of it may be queued. Default no limit. Boxed, for few classes have one.
    pub queue: Option<Box<QueueSpec>>,
    /// Which packets of a capture or a live link are its own.
    pub matching: Option<Match>,
    /// How many alike streams it has; a packet belongs to the one that its flow number modulo this
    /// says. Default 1.
    pub count: u32,
    /// The time between the deadlines of two packets of a stream.
    pub gap: Option<Nanos>,
    /// How many of a stream's consecutive packets may be late or lost; only with `gap` or
    /// `deadline`.
    pub loss: Option<Loss>,
    /// What DWCS does with late packets. Default drop with `loss`, send without.
    pub late: Late,
    /// The scheduler that it holds: for its own packets, or for the classes below it. Boxed, for
    /// few classes have one and a plan may have a million classes.
    pub inside: Option<Box<Scheduling>>,
}

impl Class {
    /// The delay by which deadlines order its packets: what it is promised, or else its streams'
    /// gap; best effort without either.
    pub fn relative_deadline(&self) -> Option<Nanos> {
        self.deadline.or(self.gap)
    }

    /// The delay that packets are promised over a link of a network.
    pub fn deadline_over(&self, link: LinkId) -> Option<Nanos> {
        let own = self.deadline_over.iter().find(|(over, _)| *over == link);
        own.map(|(_, deadline)| *deadline).or(self.deadline)
    }

    /// The time frame in which a link is to send the first packet of a period, if the plan says it.
    pub fn frame_at(&self, link: LinkId) -> Option<u32> {
        let at = self.frame_at.iter().find(|(at, _)| *at == link);
        at.map(|(_, frame)| *frame)
    }

    /// Whether it is promised anything that time-driven priority reserves frames for.
    pub fn wants_frames(&self) -> bool {
        self.relative_deadline().is_some() || self.end_to_end.is_some()
    }

    /// What is known to arrive in its queue under a scheduler: its `arrival`, but for a class whose
    /// demoted packets stay in that queue, since their number has no bound.
    pub fn arrival_under(&self, scheduler: &SchedulerSpec) -> Option<&Arrival> {
        let stays = self.police == Police::Demote && !scheduler.room().proof.sets_demoted_behind;
        self.arrival.as_ref().filter(|_| !stays)
    }

    /// Whether no packet of it ever comes, as at an output that none of its paths passes.
    pub fn is_absent(&self) -> bool {
        let mut lines = self.arrival.iter().flat_map(|arrival| &arrival.buckets);
        self.police == Police::Drop && lines.any(TokenBucket::is_nothing)
    }

    /// The scheduler that it holds: first come, first served where it names none.
    pub fn scheduling(&self) -> Scheduling {
        self.inside.as_deref().copied().unwrap_or_default()
    }

    /// Whether it has packets of its own, rather than classes below it.
    pub fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }
}

/// A weight in millionths, so that sums and comparisons are exact: 0.5 is `Weight(500_000)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight(pub u32);

impl Weight {
    /// One.
    pub const ONE: Weight = Weight(1_000_000);
}

/// `arrival = { bucket, rate }`, `{ bucket, rate, packet, peak }` or a list of them: the traffic
/// of any interval is at most the minimum of all these token buckets.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// At least one; a TSpec with `packet` and `peak` adds the bucket (`packet`, `peak`).
    pub buckets: Vec<TokenBucket>,
    /// The largest packet of the class, if the plan gives one.
    pub packet: Option<Bytes>,
    /// The shortest packet of the class, if the plan gives one.
    pub shortest: Option<Bytes>,
}

impl fmt::Display for Arrival {
    /// As a plan writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let packet = match (self.shortest, self.packet) {
            (None, None) => String::new(),
            (None, Some(Bytes(most))) => format!(", packet = \"{most}b\""),
            (Some(Bytes(least)), most) => {
                let most =
                    most.map_or(String::new(), |most| format!(", at-most = \"{}b\"", most.0));
                format!(", packet = {{ at-least = \"{least}b\"{most} }}")
            }
        };
        let line = |TokenBucket { bucket, rate }: &TokenBucket| {
            format!("{{ bucket = \"{}b\", rate = \"{}bit\"{packet} }}", bucket.0, rate.0)
        };
        match &self.buckets[..] {
            [one] => f.write_str(&line(one)),
            several => {
                write!(f, "[{}]", several.iter().map(line).collect::<Vec<_>>().join(", "))
            }
        }
    }
}
