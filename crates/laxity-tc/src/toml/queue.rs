//! The disciplines of leaves as queues of a plan.

use laxity::units::{Bytes, Nanos};
use laxity_plan::model::QueueLimit;

use super::{quoted, size};
use crate::error::plain;
use crate::notes::NotMapped;
use crate::setup::{CoDel, FqCodel, Pie, QdiscKind, Red, closest};

/// How much a leaf may queue, and which of it is dropped early.
#[derive(Debug)]
pub(crate) struct Queue {
    /// `None` for as much as the interface says.
    pub limit: Option<QueueLimit>,
    kind: &'static str,
    /// Keys before the limit and behind it, with what joins them.
    before: String,
    behind: String,
    /// What of the discipline is not kept.
    pub lost: Option<String>,
}

/// Disciplines that do more than to limit a queue and become a limit: how many packets they hold
/// unless they say so, and what is lost of them.
const LIMITS: [(&str, u32, &str); 3] = [
    ("sfq", 127, "turns among its flows are"),
    ("fq", 10_000, "pacing and turns among its flows are"),
    ("fq_pie", 10_240, "early drops and turns among its flows are"),
];
/// The largest threshold of a plan.
const LARGEST: u32 = (1 << 30) - 1;

impl Queue {
    /// A queue that drops nothing early.
    pub(crate) fn limited(limit: Option<QueueLimit>) -> Queue {
        Queue { limit, kind: "droptail", before: String::new(), behind: String::new(), lost: None }
    }

    /// The queue of what was to take turns, with controlled delay.
    pub(crate) fn from_flows(flows: &FqCodel) -> Queue {
        let FqCodel { limit, target, interval, ecn, .. } = *flows;
        let lost = "fq_codel: its flows share one queue, turns among them are not kept";
        Queue { lost: Some(lost.into()), ..codel(CoDel { limit, target, interval, ecn }) }
    }

    /// The queue that a discipline comes to, or why none.
    pub(crate) fn try_from_kind(kind: &QdiscKind) -> Result<Queue, NotMapped> {
        let packets = |limit: u32| Some(QueueLimit::Packets(limit.into()));
        let queue = match kind {
            QdiscKind::Pfifo { limit } => Queue::limited(limit.and_then(packets)),
            QdiscKind::Bfifo { limit } => {
                Queue::limited(Some(QueueLimit::Bytes(Bytes((*limit).into()))))
            }
            QdiscKind::CoDel(CoDel { target, interval, .. })
                if *target == Nanos::ZERO || *interval == Nanos::ZERO =>
            {
                return Err("codel: a target or interval of nothing".into());
            }
            QdiscKind::CoDel(parameters) => codel(*parameters),
            QdiscKind::FqCodel(flows) => Queue::from_flows(flows),
            QdiscKind::Pie(Pie { limit, target, tupdate, alpha, beta, ecn }) => {
                let [alpha, beta] = [alpha, beta].map(|sixteenths| f64::from(*sixteenths) / 16.0);
                let behind = format!(
                    ", target = \"{target}\", update = \"{tupdate}\", alpha = {alpha}, beta = {beta}{}",
                    marks(*ecn)
                );
                Queue { kind: "pie", behind, ..Queue::limited(packets(*limit)) }
            }
            QdiscKind::Red(red) => early(red, "red", QueueLimit::Bytes(Bytes(red.limit.into()))),
            QdiscKind::Choke(red) => early(red, "choke", QueueLimit::Packets(red.limit.into())),
            QdiscKind::Other { name, limit } if name == "pfifo_head_drop" => {
                let lost =
                    "pfifo_head_drop drops its oldest packet, a plan's queue the one that comes";
                let lost = limit.map(|_| lost.to_string());
                Queue { lost, ..Queue::limited(limit.and_then(packets)) }
            }
            kind => {
                let name = kind.name();
                let known = LIMITS.iter().find(|(known, ..)| *known == name);
                let (QdiscKind::Other { limit, .. }, Some((_, default, lost))) = (kind, known)
                else {
                    let name = plain(name);
                    let closest = closest(&name).map(|closest| format!("; {closest}"));
                    let closest = closest.unwrap_or_default();
                    return Err(format!("qdisc {name} has no counterpart{closest}").into());
                };
                let limit = limit.unwrap_or(*default);
                let lost = format!("{name}: its limit of {limit} packets is kept, {lost} not");
                Queue { lost: Some(lost), ..Queue::limited(packets(limit)) }
            }
        };
        match queue.limit {
            Some(QueueLimit::Packets(0) | QueueLimit::Bytes(Bytes(0))) => {
                Err("a queue of limit 0 takes no packet".into())
            }
            _ => Ok(queue),
        }
    }

    /// The keys of a plan's `queue`; `None` if it has no limit.
    pub(crate) fn keys(&self) -> Option<String> {
        let Queue { kind, before, behind, .. } = self;
        let limit = length(self.limit?);
        Some(format!("kind = \"{kind}\", {before}limit = {limit}{behind}"))
    }
}

fn marks(ecn: bool) -> &'static str {
    if ecn { ", ecn = true" } else { "" }
}

fn length(length: QueueLimit) -> String {
    match length {
        QueueLimit::Packets(packets) => packets.to_string(),
        QueueLimit::Bytes(bytes) => quoted(&size(bytes)),
    }
}

fn codel(CoDel { limit, target, interval, ecn }: CoDel) -> Queue {
    let behind = format!(", target = \"{target}\", interval = \"{interval}\"{}", marks(ecn));
    Queue { kind: "codel", behind, ..Queue::limited(Some(QueueLimit::Packets(limit.into()))) }
}

/// RED counts in bytes and CHOKe in packets, as their limits do.
fn early(red: &Red, kind: &'static str, limit: QueueLimit) -> Queue {
    let Red { min, max, wlog, ecn, .. } = *red;
    if max <= min || max > LARGEST || min == 0 {
        let lost = format!("its limit is kept, early drops between {min} and {max} are not");
        return Queue { lost: Some(lost), ..Queue::limited(Some(limit)) };
    }
    let in_unit = |value: u32| match limit {
        QueueLimit::Packets(_) => length(QueueLimit::Packets(value.into())),
        QueueLimit::Bytes(_) => length(QueueLimit::Bytes(Bytes(value.into()))),
    };
    let is_known = (1..=19).contains(&wlog);
    let weight =
        if is_known { format!(", weight = {}", 0.5f64.powi(wlog.into())) } else { String::new() };
    let lost = (!is_known).then(|| {
        format!("{kind}: the weight of its average is not said, so it is the plan's default")
    });
    let before = format!("min = {}, max = {}, ", in_unit(min), in_unit(max));
    let probability = red.probability();
    let behind = format!(", max-p = {probability}{weight}, gentle = false{}", marks(ecn));
    Queue { limit: Some(limit), kind, before, behind, lost }
}
