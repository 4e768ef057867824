//! The words behind the kind of a discipline (iproute2, tc/q_*.c).

use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::error::Fault;

use super::command::{Args, Word};
use super::quantity::{self, small, whole};
use super::{WithLosses, cake, queue};
use crate::error::plain;
use crate::setup::{FqCodel, Prio, QdiscKind, Tbf};

/// What Linux divides rates in bytes a second by to get quanta, unless a script says `r2q`.
const R2Q: u32 = 10;

/// Reads the words behind a kind. `flows` are the options of `fq_codel` to begin with.
pub(crate) fn kind(
    kind: &Word,
    args: &mut Args<'_>,
    flows: FqCodel,
) -> Result<WithLosses<QdiscKind>, Fault> {
    let mut lost = Vec::new();
    let kind = match kind.text.as_str() {
        "hfsc" => hfsc(args)?,
        "htb" => htb(args)?,
        "drr" => no_words(args, "qdisc drr", QdiscKind::Drr)?,
        "qfq" => no_words(args, "qdisc qfq", QdiscKind::Qfq)?,
        "prio" => QdiscKind::Prio(prio(kind, args)?),
        "tbf" => QdiscKind::Tbf(tbf(args)?),
        "fq_codel" => QdiscKind::FqCodel(fq_codel(args, flows, &mut lost)?),
        "cake" => QdiscKind::Cake(cake::cake(args, &mut lost)?),
        "mq" => QdiscKind::Mq,
        "netem" => {
            let words = std::iter::from_fn(|| args.next()).map(|word| plain(&word.text));
            QdiscKind::Netem(words.collect::<Vec<_>>().join(" "))
        }
        _ => queue::kind(kind, args)?,
    };
    Ok((kind, lost))
}

fn no_words(args: &mut Args<'_>, of: &str, kind: QdiscKind) -> Result<QdiscKind, Fault> {
    match args.next() {
        Some(word) => Err(word.no_keyword(of, "no words")),
        None => Ok(kind),
    }
}

fn hfsc(args: &mut Args<'_>) -> Result<QdiscKind, Fault> {
    let mut default = 0;
    while let Some(word) = args.next() {
        if !word.means("default") {
            return Err(word.no_keyword("qdisc hfsc", "default CLASS"));
        }
        default = whole(args.value("default")?, 16, "a class")?;
    }
    Ok(QdiscKind::Hfsc { default })
}

fn htb(args: &mut Args<'_>) -> Result<QdiscKind, Fault> {
    let (mut default, mut r2q) = (0, R2Q);
    while let Some(word) = args.next() {
        match word {
            word if word.means("default") => {
                default = whole(args.value("default")?, 16, "a class")?;
            }
            word if word.means("r2q") => r2q = whole(args.value("r2q")?, 10, "a divisor")?,
            word if word.means("offload") => {}
            word if ["debug", "direct_qlen"].iter().any(|name| word.means(name)) => {
                args.value(&word.text)?;
            }
            word => return Err(word.no_keyword("qdisc htb", "default CLASS, r2q NUMBER")),
        }
    }
    Ok(QdiscKind::Htb { default, r2q })
}

fn prio(kind: &Word, args: &mut Args<'_>) -> Result<Prio, Fault> {
    let Prio { mut bands, priomap } = Prio::DEFAULT;
    let mut map = priomap.map(u32::from);
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "bands" => {
                let value = args.value("bands")?;
                let number = whole(value, 10, "a number of bands")?;
                let known = u8::try_from(number).ok();
                let fits = known.filter(|bands| (Prio::BANDS.0..=Prio::BANDS.1).contains(bands));
                bands = fits.ok_or_else(|| value.fault("a number of bands", "prio has 2 to 16"))?;
            }
            // It is last: all following words belong to it.
            "priomap" => priorities(&mut map, args)?,
            // Linux does not look at it.
            "multiqueue" => {}
            _ => return Err(word.no_keyword("qdisc prio", "bands NUMBER, priomap BAND …")),
        }
    }
    if let Some(priority) = map.iter().position(|band| *band >= bands.into()) {
        let message = format!(
            "the priomap sends priority {priority} to band {}, and the last one is {}",
            map[priority],
            bands - 1
        );
        return Err(Fault::at(&kind.span, message)
            .help("write `priomap` with 16 bands that there are; Linux refuses others"));
    }
    Ok(Prio { bands, priomap: map.map(|band| band as u8) })
}

/// Reads the bands of the first priorities; those of the others stay.
fn priorities(map: &mut [u32; 16], args: &mut Args<'_>) -> Result<(), Fault> {
    let mut places = map.iter_mut();
    while let Some(word) = args.next() {
        if word.text == "multiqueue" {
            continue;
        }
        let band = whole(word, 10, "a band")?;
        let Some(place) = places.next() else {
            return Err(word.no_keyword("priomap", "16 bands, one for each priority"));
        };
        *place = band;
    }
    Ok(())
}

fn tbf(args: &mut Args<'_>) -> Result<Tbf, Fault> {
    let span = args.span();
    let (mut rate, mut burst, mut limit, mut latency) = (0, Bytes(0), None, None);
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "rate" => rate = quantity::rate(args.value("rate")?)?,
            "burst" | "buffer" | "maxburst" => burst = quantity::burst(args.value("burst")?)?,
            "limit" => limit = Some(quantity::size(args.value("limit")?)?),
            "latency" | "lat" => latency = Some(quantity::time(args.value("latency")?)?),
            // How much it lets through at once is not the link's rate, and a second bucket makes
            // nothing slower in the long run.
            name @ ("mtu" | "minburst" | "peakrate") => {
                args.value(name)?;
            }
            _ => {
                return Err(
                    word.no_keyword("qdisc tbf", "rate, burst, limit, latency, peakrate, mtu")
                );
            }
        }
    }
    if rate == 0 {
        return Err(
            Fault::at(&span, "this tbf has no `rate`").help("add one such as `rate 10mbit`")
        );
    }
    let within = |latency: Nanos| {
        let bytes = u128::from(rate) * u128::from(latency.0) / 8_000_000_000;
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX).saturating_add(burst.0))
    };
    let limit = limit.or(latency.map(within)).unwrap_or(Bytes(0));
    Ok(Tbf { rate: Rate(rate), burst: small(burst), limit: small(limit) })
}

/// Reads the options of flow queues that change those before. What of them is lost is added.
fn fq_codel(
    args: &mut Args<'_>,
    mut flows: FqCodel,
    lost: &mut Vec<String>,
) -> Result<FqCodel, Fault> {
    /// What Linux takes by default, in bytes and packets.
    const MEMORY: u64 = 32 << 20;
    const DROP_BATCH: u32 = 64;
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "limit" => flows.limit = positive(args.value("limit")?, "a number of packets")?,
            "flows" => {
                let value = args.value("flows")?;
                flows.flows = positive(value, "a number of flows")?;
                if flows.flows > 65_536 {
                    return Err(value.fault("a number of flows", "fq_codel has 1 to 65536"));
                }
            }
            "quantum" => {
                let quantum = whole(args.value("quantum")?, 0, "a number of bytes")?;
                flows.quantum = quantum.max(FqCodel::LEAST_QUANTUM);
            }
            "target" => flows.target = waiting_time(args.value("target")?)?,
            "interval" => flows.interval = waiting_time(args.value("interval")?)?,
            "ecn" | "noecn" => flows.ecn = word.text == "ecn",
            "ce_threshold" => {
                let threshold = quantity::time(args.value("ce_threshold")?)?;
                lost.push(format!("ce_threshold {threshold}: no packet is marked by it"));
            }
            "ce_threshold_selector" => {
                args.value("ce_threshold_selector")?;
            }
            "memory_limit" => {
                if quantity::size(args.value("memory_limit")?)?.0 != MEMORY {
                    lost.push("memory_limit: a plan limits by packets alone".into());
                }
            }
            "drop_batch" => {
                if whole(args.value("drop_batch")?, 0, "a number of packets")? != DROP_BATCH {
                    lost.push("drop_batch: at its limit a plan drops packet by packet".into());
                }
            }
            _ => {
                let accepted = "limit, flows, quantum, target, interval, ecn, noecn, \
                                ce_threshold, memory_limit, drop_batch";
                return Err(word.no_keyword("qdisc fq_codel", accepted));
            }
        }
    }
    Ok(flows)
}

fn positive(word: &Word, what: &str) -> Result<u32, Fault> {
    match whole(word, 0, what)? {
        0 => Err(word.fault(what, "a plan takes one above 0")),
        number => Ok(number),
    }
}

fn waiting_time(word: &Word) -> Result<Nanos, Fault> {
    match quantity::time(word)? {
        Nanos::ZERO => Err(word.fault("a time to wait", "a plan takes one above 0")),
        time => Ok(time),
    }
}
