//! The words behind the kind of a queue (iproute2, tc/q_red.c, tc/q_choke.c, tc/q_codel.c,
//! tc/q_pie.c, tc/q_fifo.c). Words that do not count for a plan are passed over.

use laxity::units::Nanos;
use laxity_plan::error::Fault;

use super::command::{Args, Word};
use super::quantity::{self, small, whole};
use crate::setup::{CoDel, FqCodel, Pie, QdiscKind, Red};

/// How many bytes a `bfifo` holds that says nothing: as many frames of Ethernet as packets.
const BYTES: u32 = 1_000 * 1_514;
/// The target of `pie`, and how often its probability is moved.
const PIE: Nanos = Nanos(15_000_000);
/// The probability of `red` and `choke` that say none (iproute2, tc/q_red.c).
const PROBABILITY: f64 = 0.02;
/// Options that count and have a value.
const VALUED: &str =
    "limit min max target interval tupdate alpha beta probability avpkt burst ewma";

/// The options that count.
struct Options<'a> {
    given: Vec<(&'a str, &'a Word)>,
    ecn: bool,
}

impl<'a> Options<'a> {
    fn read(args: &mut Args<'a>) -> Result<Self, Fault> {
        let mut all = Options { given: Vec::new(), ecn: false };
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "ecn" | "noecn" => all.ecn = word.text == "ecn",
                name if VALUED.split(' ').any(|known| known == name) => {
                    all.given.push((name, args.value(name)?))
                }
                _ => {}
            }
        }
        Ok(all)
    }

    fn get(&self, name: &str) -> Option<&'a Word> {
        self.given.iter().rev().find(|(known, _)| *known == name).map(|(_, word)| *word)
    }

    fn number(&self, name: &str, what: &str) -> Result<Option<u32>, Fault> {
        self.get(name).map(|word| whole(word, 0, what)).transpose()
    }

    fn size(&self, name: &str) -> Result<Option<u32>, Fault> {
        Ok(self.get(name).map(quantity::size).transpose()?.map(small))
    }

    fn time(&self, name: &str, default: Nanos) -> Result<Nanos, Fault> {
        self.get(name).map_or(Ok(default), quantity::time)
    }
}

/// Reads the words behind a kind. Of one that is not known at most the limit is read.
pub(super) fn kind(kind: &Word, args: &mut Args<'_>) -> Result<QdiscKind, Fault> {
    let name = kind.text.as_str();
    let other = |limit| QdiscKind::Other { name: name.into(), limit };
    let known = ["pfifo", "bfifo", "pfifo_head_drop", "codel", "pie", "red", "choke"];
    if !known.contains(&name) && !["sfq", "fq", "fq_pie"].contains(&name) {
        return Ok(other(None));
    }
    let options = Options::read(args)?;
    let packets = || options.number("limit", "a number of packets");
    Ok(match name {
        "pfifo" => QdiscKind::Pfifo { limit: options.size("limit")? },
        "bfifo" => QdiscKind::Bfifo { limit: options.size("limit")?.unwrap_or(BYTES) },
        "pfifo_head_drop" => other(options.size("limit")?),
        "codel" => QdiscKind::CoDel(CoDel {
            limit: packets()?.unwrap_or(1_000),
            target: options.time("target", FqCodel::DEFAULT.target)?,
            interval: options.time("interval", FqCodel::DEFAULT.interval)?,
            ecn: options.ecn,
        }),
        "pie" => {
            let gain = |name, default: u32| -> Result<u32, Fault> {
                Ok(options.number(name, "a gain")?.unwrap_or(default).min(32))
            };
            QdiscKind::Pie(Pie {
                target: options.time("target", PIE)?.max(Nanos(1_000)),
                tupdate: options.time("tupdate", PIE)?.max(Nanos(1_000)),
                alpha: gain("alpha", 2)?,
                beta: gain("beta", 20)?,
                ecn: options.ecn,
                limit: packets()?.unwrap_or(1_000),
            })
        }
        "red" => match options.size("limit")? {
            Some(limit) => QdiscKind::Red(early(limit, false, &options)?),
            None => other(None),
        },
        "choke" => match packets()? {
            Some(limit) => QdiscKind::Choke(early(limit, true, &options)?),
            None => other(None),
        },
        _ => other(packets()?),
    })
}

/// Early detection of `red`, which counts in bytes, or of `choke`, which counts in packets.
fn early(limit: u32, in_packets: bool, options: &Options<'_>) -> Result<Red, Fault> {
    let (min, max) = (options.size("min")?, options.size("max")?);
    let max = match (max, min) {
        (Some(max), _) => max,
        (None, Some(min)) if !in_packets => min.saturating_mul(3).min(limit / 4),
        (None, _) => limit / 4,
    };
    let min = min.unwrap_or(max / 3);
    let written = options.size("avpkt")?;
    let packet = written.unwrap_or(1_000).max(1);
    let probability = match options.get("probability") {
        None => PROBABILITY,
        Some(word) => {
            let value = word.text.parse::<f64>().ok().filter(|p| (1e-6..=1.0).contains(p));
            value.ok_or_else(|| word.fault("a probability", "a plan takes 0.000001 to 1"))?
        }
    };
    let unit = u64::from(if in_packets { packet } else { 1 });
    let passing = (u64::from(min) * 2 + u64::from(max)) * unit / (3 * u64::from(packet));
    let burst = options.number("burst", "a number")?;
    let wlog = match options.number("ewma", "a weight")? {
        Some(ewma) => ewma.min(31) as u8,
        None if burst.is_none() && written.is_none() && !in_packets => 0,
        None => {
            let least = f64::from(min) * unit as f64 / f64::from(packet);
            weight(least, burst.map_or(passing as f64, f64::from)).unwrap_or(0)
        }
    };
    let max_p = Red::max_p(probability);
    Ok(Red { limit, min, max, wlog, plog: 0, cell_log: 0, max_p, packet, ecn: options.ecn })
}

/// The weight for which a burst of packets on an idle link passes, as a power of two (iproute2,
/// tc/tc_red.c; Floyd, Jacobson 1993, section 6).
fn weight(min: f64, burst: f64) -> Option<u8> {
    let least = burst + 1.0 - min;
    if least < 1.0 {
        return None;
    }
    (1..32u8).find(|log| {
        let weight = 0.5f64.powi((*log).into());
        least <= (1.0 - (1.0 - weight).powf(burst)) / weight
    })
}
