//! The qdiscs of leaves as limits of their queues.

use laxity::units::Bytes;

use super::args::{Args, Read};
use super::shell::{Word, plain};
use super::units;
use crate::model::QueueLimit;

/// How much a leaf may queue.
#[derive(Debug)]
pub struct Queue {
    pub limit: Option<QueueLimit>,
    /// What of the qdisc is not kept.
    pub lost: Option<String>,
}

/// Qdiscs that do more than to limit a queue: how many packets they hold unless they say so, and
/// what is lost of them.
const MANAGED: [(&str, u64, &str); 6] = [
    ("sfq", 127, "turns among its flows are"),
    ("codel", 1000, "early drops are"),
    ("pie", 1000, "early drops are"),
    ("fq", 10_000, "pacing and turns among its flows are"),
    ("fq_codel", 10_240, "early drops and turns among its flows are"),
    ("fq_pie", 10_240, "early drops and turns among its flows are"),
];

/// The queue that a qdisc comes to, or why none.
pub fn read(kind: &Word, mut args: Args<'_>) -> Read<Result<Queue, String>> {
    let mut written = None;
    while let Some(word) = args.next() {
        if word.text == "limit" {
            written = Some(args.value("limit")?);
        }
    }
    let kept = |limit, lost: Option<String>| Queue { limit: Some(limit), lost };
    let queue = match (kind.text.as_str(), written) {
        ("pfifo" | "bfifo" | "pfifo_head_drop", None) => Queue {
            limit: None,
            lost: Some(format!(
                "the limit of {} is the interface's txqueuelen, which the script does not say",
                kind.text
            )),
        },
        ("pfifo", Some(limit)) => kept(QueueLimit::Packets(units::size(limit)?.0), None),
        ("bfifo", Some(limit)) => kept(QueueLimit::Bytes(units::size(limit)?), None),
        ("pfifo_head_drop", Some(limit)) => {
            let lost = "pfifo_head_drop drops its oldest packet, a plan's queue the one that comes";
            kept(QueueLimit::Packets(units::size(limit)?.0), Some(lost.into()))
        }
        ("red", Some(limit)) => {
            let lost = "red: its limit is kept, early drops are not";
            kept(QueueLimit::Bytes(units::size(limit)?), Some(lost.into()))
        }
        (name, limit) => {
            let Some((_, default, lost)) = MANAGED.iter().find(|(managed, ..)| *managed == name)
            else {
                return Ok(Err(format!("qdisc {} has no counterpart", plain(name))));
            };
            let limit = limit.map_or(Ok(*default), |limit| {
                units::whole(limit, 0, "a number of packets").map(u64::from)
            })?;
            let lost = format!("{name}: its limit of {limit} packets is kept, {lost} not");
            kept(QueueLimit::Packets(limit), Some(lost))
        }
    };
    Ok(match queue.limit {
        Some(QueueLimit::Packets(0) | QueueLimit::Bytes(Bytes(0))) => {
            Err("a queue of limit 0 takes no packet".into())
        }
        _ => Ok(queue),
    })
}
