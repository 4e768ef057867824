//! The qdiscs of leaves as queues of a plan (iproute2, tc/q_red.c, tc/q_choke.c, tc/q_codel.c,
//! tc/q_fq_codel.c).

use laxity::units::{Bytes, Nanos};
use laxity_plan::model::QueueLimit;

use crate::args::Args;
use crate::command::Word;
use crate::error::{Read, plain};
use crate::units;
use crate::unsupported;

/// How much a leaf may queue, and which of it is dropped early.
#[derive(Debug)]
pub struct Queue {
    /// `None` for as much as the interface says.
    pub limit: Option<QueueLimit>,
    pub early: Early,
    /// What of the qdisc is not kept.
    pub lost: Option<String>,
}

/// The `txqueuelen` that Linux gives an interface of Ethernet, and its longest frames.
pub const LENGTH: u64 = 1000;
/// How many packets fq_codel holds, and the target and interval of codel.
const FLOWS_LIMIT: u64 = 10_240;
/// The target of pie, and how often its probability is moved.
const PIE: Nanos = Nanos(15_000_000);
const CODEL: (Nanos, Nanos) = (Nanos(5_000_000), Nanos(100_000_000));
const FRAME: u64 = 1514;

impl Queue {
    /// One that drops nothing early.
    pub fn limited(limit: Option<QueueLimit>) -> Queue {
        Queue { limit, early: Early::None, lost: None }
    }

    /// One for what was to take turns, with controlled delay.
    pub fn of_flows() -> Queue {
        let (target, interval) = CODEL;
        let early = Early::CoDel { target, interval, ecn: true };
        Queue { limit: Some(QueueLimit::Packets(FLOWS_LIMIT)), early, lost: None }
    }
}

/// Early drops, with the parameters that tc has for them.
#[derive(Debug, PartialEq)]
pub enum Early {
    None,
    CoDel {
        target: Nanos,
        interval: Nanos,
        ecn: bool,
    },
    /// PIE; what a second of waiting adds is in sixteenths.
    Pie {
        target: Nanos,
        update: Nanos,
        alpha: u32,
        beta: u32,
        ecn: bool,
    },
    /// RED, or with `meets` CHOKe; `weight` is 2 to the power of minus this.
    Red {
        min: u64,
        max: u64,
        probability: f64,
        weight: Option<i32>,
        ecn: bool,
        meets: bool,
    },
}

/// Qdiscs that do more than to limit a queue and become a limit: how many packets they hold unless
/// they say so, and what is lost of them.
const LIMITS: [(&str, u64, &str); 3] = [
    ("sfq", 127, "turns among its flows are"),
    ("fq", 10_000, "pacing and turns among its flows are"),
    ("fq_pie", 10_240, "early drops and turns among its flows are"),
];
/// What tc takes by default (iproute2, tc/q_red.c).
const PROBABILITY: f64 = 0.02;
/// The largest threshold of a plan.
const LARGEST: u64 = (1 << 30) - 1;

/// The options that count.
#[derive(Default)]
struct Options<'a> {
    limit: Option<&'a Word>,
    min: Option<&'a Word>,
    max: Option<&'a Word>,
    target: Option<&'a Word>,
    interval: Option<&'a Word>,
    probability: Option<&'a Word>,
    packet: Option<&'a Word>,
    burst: Option<&'a Word>,
    ewma: Option<&'a Word>,
    ecn: Option<bool>,
    update: Option<&'a Word>,
    alpha: Option<&'a Word>,
    beta: Option<&'a Word>,
}

impl<'a> Options<'a> {
    fn read(args: &mut Args<'a>) -> Read<Self> {
        let mut all = Options::default();
        while let Some(word) = args.next() {
            let place = match word.text.as_str() {
                "limit" => &mut all.limit,
                "min" => &mut all.min,
                "max" => &mut all.max,
                "target" => &mut all.target,
                "interval" => &mut all.interval,
                "tupdate" => &mut all.update,
                "alpha" => &mut all.alpha,
                "beta" => &mut all.beta,
                "probability" => &mut all.probability,
                "avpkt" => &mut all.packet,
                "burst" => &mut all.burst,
                "ewma" => &mut all.ewma,
                "ecn" | "noecn" => {
                    all.ecn = Some(word.text == "ecn");
                    continue;
                }
                _ => continue,
            };
            *place = Some(args.value(&word.text)?);
        }
        Ok(all)
    }
}

/// Whether a qdisc of this kind is one queue for whatever comes.
pub fn is_one(kind: &str) -> bool {
    ["pfifo", "bfifo", "pfifo_head_drop", "codel", "red", "choke", "pie"].contains(&kind)
}

/// The queue that a qdisc comes to, or why none.
pub fn read(kind: &Word, mut args: Args<'_>) -> Read<Result<Queue, String>> {
    let options = Options::read(&mut args)?;
    let plainly =
        |limit, lost: Option<String>| Queue { limit: Some(limit), early: Early::None, lost };
    let packets = |word: &Word| units::whole(word, 0, "a number of packets").map(u64::from);
    let queue = match (kind.text.as_str(), options.limit) {
        ("pfifo" | "pfifo_head_drop", None) => Queue::limited(None),
        ("bfifo", None) => plainly(QueueLimit::Bytes(Bytes(LENGTH * FRAME)), None),
        ("pfifo", Some(limit)) => plainly(QueueLimit::Packets(units::size(limit)?.0), None),
        ("bfifo", Some(limit)) => plainly(QueueLimit::Bytes(units::size(limit)?), None),
        ("pfifo_head_drop", Some(limit)) => {
            let lost = "pfifo_head_drop drops its oldest packet, a plan's queue the one that comes";
            plainly(QueueLimit::Packets(units::size(limit)?.0), Some(lost.into()))
        }
        ("codel" | "fq_codel", limit) => {
            let by_flow = kind.text == "fq_codel";
            let default = if by_flow { FLOWS_LIMIT } else { 1000 };
            let limit = limit.map_or(Ok(default), packets)?;
            let time = |word: Option<&Word>, default| word.map_or(Ok(default), units::time);
            let target = time(options.target, CODEL.0)?;
            let interval = time(options.interval, CODEL.1)?;
            if target == Nanos::ZERO || interval == Nanos::ZERO {
                return Ok(Err(format!("{}: a target or interval of nothing", kind.text)));
            }
            let ecn = options.ecn.unwrap_or(by_flow);
            let lost = "fq_codel: its flows share one queue, turns among them are not kept";
            Queue {
                limit: Some(QueueLimit::Packets(limit)),
                early: Early::CoDel { target, interval, ecn },
                lost: by_flow.then(|| lost.into()),
            }
        }
        ("pie", limit) => {
            let time = |word: Option<&Word>| word.map_or(Ok(PIE), units::time);
            let gain = |word: Option<&Word>, default| {
                word.map_or(Ok(default), |word| units::whole(word, 0, "a gain"))
            };
            let early = Early::Pie {
                target: time(options.target)?.max(Nanos(1_000)),
                update: time(options.update)?.max(Nanos(1_000)),
                alpha: gain(options.alpha, 2)?.min(32),
                beta: gain(options.beta, 20)?.min(32),
                ecn: options.ecn.unwrap_or(false),
            };
            let limit = QueueLimit::Packets(limit.map_or(Ok(1000), packets)?);
            Queue { limit: Some(limit), early, lost: None }
        }
        ("red", Some(limit)) => red(QueueLimit::Bytes(units::size(limit)?), &options)?,
        ("choke", Some(limit)) => red(QueueLimit::Packets(packets(limit)?), &options)?,
        (name, limit) => {
            let Some((_, default, lost)) = LIMITS.iter().find(|(known, ..)| *known == name) else {
                let name = plain(name);
                return Ok(Err(match unsupported::closest(&name) {
                    Some(closest) => format!("qdisc {name} has no counterpart; {closest}"),
                    None => format!("qdisc {name} has no counterpart"),
                }));
            };
            let limit = limit.map_or(Ok(*default), packets)?;
            let lost = format!("{name}: its limit of {limit} packets is kept, {lost} not");
            plainly(QueueLimit::Packets(limit), Some(lost))
        }
    };
    Ok(match queue.limit {
        Some(QueueLimit::Packets(0) | QueueLimit::Bytes(Bytes(0))) => {
            Err("a queue of limit 0 takes no packet".into())
        }
        _ => Ok(queue),
    })
}

/// RED counts in bytes and CHOKe in packets, as their limits do.
fn red(limit: QueueLimit, options: &Options<'_>) -> Read<Queue> {
    let (most, meets) = match limit {
        QueueLimit::Bytes(bytes) => (bytes.0, false),
        QueueLimit::Packets(packets) => (packets, true),
    };
    let length = |word: Option<&Word>| word.map(units::size).transpose();
    let count = |word: Option<&Word>, default: u64| {
        word.map_or(Ok(default), |word| units::whole(word, 0, "a number").map(u64::from))
    };
    let (min, max) = (length(options.min)?, length(options.max)?);
    let max = match (max, min) {
        (Some(max), _) => max.0,
        (None, Some(min)) if !meets => min.0.saturating_mul(3).min(most / 4),
        (None, _) => most / 4,
    };
    let min = min.map_or(max / 3, |min| min.0);
    let packet = length(options.packet)?.map_or(1000, |packet| packet.0.max(1));
    let probability = match options.probability {
        None => PROBABILITY,
        Some(word) => {
            let value = word.text.parse::<f64>().ok().filter(|p| (1e-6..=1.0).contains(p));
            value.ok_or_else(|| word.fault("a probability", "a plan takes 0.000001 to 1"))?
        }
    };
    let unit = if meets { packet } else { 1 };
    let burst = count(options.burst, (min.saturating_mul(2) + max) * unit / (3 * packet))?;
    let weight = match options.ewma {
        Some(word) => Some(units::whole(word, 0, "a weight")?.min(31) as i32),
        None if options.burst.is_none() && options.packet.is_none() && !meets => None,
        None => weight(min as f64 * unit as f64 / packet as f64, burst as f64),
    };
    let ecn = options.ecn.unwrap_or(false);
    if max <= min || max > LARGEST || min == 0 {
        let lost = format!("its limit is kept, early drops between {min} and {max} are not");
        return Ok(Queue { limit: Some(limit), early: Early::None, lost: Some(lost) });
    }
    let fits = weight.is_none_or(|weight| (1..=19).contains(&weight));
    let weight = weight.filter(|_| fits);
    let lost = weight.is_none().then(|| {
        let name = if meets { "choke" } else { "red" };
        format!("{name}: the weight of its average is not said, so it is the plan's default")
    });
    let early = Early::Red { min, max, probability, weight, ecn, meets };
    Ok(Queue { limit: Some(limit), early, lost })
}

/// The weight for which a burst of so many packets on an idle link passes, as a power of two
/// (iproute2, tc/tc_red.c; Floyd, Jacobson 1993, section 6).
fn weight(min: f64, burst: f64) -> Option<i32> {
    let least = burst + 1.0 - min;
    if least < 1.0 {
        return None;
    }
    (1..32).find(|log| {
        let weight = 0.5f64.powi(*log);
        least <= (1.0 - (1.0 - weight).powf(burst)) / weight
    })
}
