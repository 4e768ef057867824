//! `queue = { kind = … }`, of a class or of all.

use std::ops::Range;

use laxity::aqm::{Choke, CoDel, Fraction, Measure, Red, Spacing};
use laxity::units::{Bytes, Nanos};

use super::{Read, positive, zero};
use crate::error::Fault;
use crate::model::{LinkSpec, QueueLimit, QueueSpec};
use crate::raw::{self, At, Count, Limit, Number, QueueKind};

/// The most packets or bytes of `min` and `max`: the average counts up to twice that.
const LONGEST: u64 = (1 << 30) - 1;
/// The most packets that an arriving one is compared with.
const MOST_CANDIDATES: u64 = 1000;

pub fn queue(raw: &raw::Queue, span: &Range<usize>, link: &LinkSpec) -> Read<QueueSpec> {
    check_options(raw)?;
    let limit = limit("limit", &raw.limit)?;
    Ok(match raw.kind.0 {
        QueueKind::Droptail => QueueSpec::DropTail(limit),
        QueueKind::Red => QueueSpec::Red(red(raw, span, limit, link)?),
        QueueKind::Choke => {
            let candidates = raw.candidates.as_ref().map_or(Ok(1), candidates)?;
            QueueSpec::Choke(Choke { red: red(raw, span, limit, link)?, candidates })
        }
        QueueKind::Codel => {
            let time = |key, written: &Option<_>, default| {
                written.as_ref().map_or(Ok(Nanos(default)), positive(key))
            };
            QueueSpec::CoDel(CoDel {
                target: time("target", &raw.target, CoDel::TARGET.0)?,
                interval: time("interval", &raw.interval, CoDel::INTERVAL.0)?,
                limit: limit.into(),
                ecn: raw.ecn.as_ref().is_some_and(|ecn| ecn.value),
                max_packet: link.max_packet,
            })
        }
    })
}

/// Refuses the options of another kind.
fn check_options(raw: &raw::Queue) -> Read<()> {
    fn span<T>(key: &Option<At<T>>) -> Option<&Range<usize>> {
        key.as_ref().map(|at| &at.span)
    }
    const EARLY: &[QueueKind] = &[QueueKind::Red, QueueKind::Choke];
    const MARKING: &[QueueKind] = &[QueueKind::Red, QueueKind::Choke, QueueKind::Codel];
    const CHOKE: &[QueueKind] = &[QueueKind::Choke];
    const CODEL: &[QueueKind] = &[QueueKind::Codel];
    let options = [
        ("min", span(&raw.min), EARLY),
        ("max", span(&raw.max), EARLY),
        ("max-p", span(&raw.max_p), EARLY),
        ("weight", span(&raw.weight), EARLY),
        ("gentle", span(&raw.gentle), EARLY),
        ("spacing", span(&raw.spacing), EARLY),
        ("candidates", span(&raw.candidates), CHOKE),
        ("target", span(&raw.target), CODEL),
        ("interval", span(&raw.interval), CODEL),
        ("ecn", span(&raw.ecn), MARKING),
    ];
    for (key, span, owners) in options {
        if let Some(span) = span.filter(|_| !owners.contains(&raw.kind.0)) {
            let words: Vec<_> = owners.iter().map(|kind| format!("`{}`", word(*kind))).collect();
            let message = format!("`{key}` does not belong to `kind = \"{}\"`", word(raw.kind.0));
            let help = format!("leave it out; it belongs to {}", words.join(", "));
            return Err(Fault::at(span, message).help(help));
        }
    }
    Ok(())
}

fn word(kind: QueueKind) -> &'static str {
    match kind {
        QueueKind::Droptail => "droptail",
        QueueKind::Red => "red",
        QueueKind::Choke => "choke",
        QueueKind::Codel => "codel",
    }
}

fn red(raw: &raw::Queue, span: &Range<usize>, limit: QueueLimit, link: &LinkSpec) -> Read<Red> {
    let (Some(raw_min), Some(raw_max)) = (&raw.min, &raw.max) else {
        let missing = if raw.min.is_none() { "min" } else { "max" };
        let message = format!("`{missing}` is missing");
        return Err(Fault::at(span, message)
            .help("write average lengths such as `min = 50, max = 150` or `min = \"50kB\", max = \"150kB\"`"));
    };
    let (measure, [min, max]) = match (raw_min.value, raw_max.value) {
        (Limit::Packets(min), Limit::Packets(max)) => (Measure::Packets, [min, max]),
        (Limit::Bytes(Bytes(min)), Limit::Bytes(Bytes(max))) => (Measure::Bytes, [min, max]),
        _ => {
            let message = "`min` and `max` are not measured alike";
            return Err(Fault::at(&raw_max.span, message)
                .help("write both in packets, as in 50, or both in bytes, as in \"50kB\""));
        }
    };
    if max > LONGEST {
        let message = format!("`max` is too long: {max}");
        return Err(
            Fault::at(&raw_max.span, message).help(format!("at most {LONGEST} is accepted"))
        );
    }
    if min >= max {
        let message = "`max` is not above `min`";
        return Err(Fault::at(&raw_max.span, message)
            .help("drops begin at `min` and are frequent at `max`; three times `min` is usual"));
    }
    let share = |key, written: &Option<_>, default, most| {
        written.as_ref().map_or(Ok(default), |written| millionths(key, written, most))
    };
    Ok(Red {
        min,
        max,
        measure,
        limit: limit.into(),
        max_p: Fraction::millionths(share("max-p", &raw.max_p, 100_000, 1_000_000)?),
        weight: Fraction::millionths(share("weight", &raw.weight, 2_000, 999_999)?),
        gentle: raw.gentle.as_ref().is_none_or(|gentle| gentle.value),
        ecn: raw.ecn.as_ref().is_some_and(|ecn| ecn.value),
        spacing: match raw.spacing.as_ref().map(|spacing| spacing.value.0) {
            None | Some(raw::Spacing::Uniform) => Spacing::Uniform,
            Some(raw::Spacing::Wait) => Spacing::Wait,
        },
        transmission: link.rate.time_for(link.max_packet).max(Nanos(1)),
    })
}

pub fn limit(key: &str, raw: &At<Limit>) -> Read<QueueLimit> {
    match raw.value {
        Limit::Packets(0) | Limit::Bytes(Bytes(0)) => Err(zero(key, &raw.span)),
        Limit::Packets(count) => Ok(QueueLimit::Packets(count)),
        Limit::Bytes(size) => Ok(QueueLimit::Bytes(size)),
    }
}

fn candidates(At { value: Count(count), span }: &At<Count>) -> Read<u32> {
    match *count {
        0 => Err(zero("candidates", span)),
        1..=MOST_CANDIDATES => Ok(*count as u32),
        _ => Err(Fault::at(span, format!("`candidates` is {count}"))
            .help(format!("1 to {MOST_CANDIDATES} packets are compared"))),
    }
}

fn millionths(key: &str, At { value: Number(share), span }: &At<Number>, most: u32) -> Read<u32> {
    let millionths = (share * 1e6).round();
    if (1.0..=f64::from(most)).contains(&millionths) {
        return Ok(millionths as u32);
    }
    let largest = f64::from(most) / 1e6;
    Err(Fault::at(span, format!("`{key}` is {share}"))
        .help(format!("it is at least 0.000001 and at most {largest}")))
}
