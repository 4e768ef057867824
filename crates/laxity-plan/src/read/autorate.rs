//! `rate = { from = …, to = … }` of a link.

use std::net::IpAddr;
use std::sync::Arc;

use laxity::autorate::{Millionths, Rule, Settings};
use laxity::link::Trace;
use laxity::units::{Nanos, Rate};

use crate::error::{Fault, Span, shown};
use crate::model::{AutorateSpec, BehindSpec};
use crate::raw::{self, At, Number, Quantity, Table, Word, positive, positive_or};
use crate::source::values::longer;

/// The shortest and the longest time between two probes.
const INTERVALS: [Nanos; 2] = [Nanos(1_000_000), Nanos(1_000_000_000)];
/// The longest delay, and the longest time in which a queue is drained.
const LONGEST: Nanos = Nanos(10_000_000_000);
/// The longest round trip.
const LONGEST_ROUND_TRIP: Nanos = Nanos(2_000_000_000);
/// The most hosts that answer probes.
const MOST_REFLECTORS: usize = 64;

/// A rate that a controller finds, on a link before one whose rate changes by a trace.
pub(super) fn autorate(
    raw: &raw::Autorate,
    trace: Option<Arc<Trace>>,
) -> Result<AutorateSpec, Fault> {
    let (from, to) = (raw.from.value.0, raw.to.value.0);
    if from > to {
        let message = format!("`from` is {from}, above `to`, {to}");
        return Err(Fault::at(&raw.from.span, message)
            .help("`from` is what the link always carries, and `to` the most that it is given"));
    }
    let rule = raw.by.as_ref().map_or(Rule::Delay, |Word(rule)| Rule::from(*rule));
    if let (Rule::CakeAutorate, Some(At { span, .. })) = (rule, &raw.drain) {
        return Err(Fault::at(span, "`drain` with `by = \"cake-autorate\"`")
            .help("leave it out: that rule does not know how long a queue is"));
    }
    let default = Settings::new(rule, from, to);
    let settings = Settings {
        start: start(&raw.start, from, to)?.unwrap_or(default.start),
        delay: time("delay", &raw.delay, default.delay, [Nanos(1), LONGEST])?,
        interval: time("interval", &raw.interval, default.interval, INTERVALS)?,
        rise: share("rise", &raw.rise, default.rise)?,
        fall: share("fall", &raw.fall, default.fall)?,
        drain: time("drain", &raw.drain, default.drain, [Nanos(1_000_000), LONGEST])?,
        ..default
    };
    Ok(AutorateSpec {
        settings,
        reflectors: reflectors(&raw.reflectors)?,
        behind: behind(raw.behind.as_ref(), trace)?,
    })
}

fn start(written: &Option<Quantity<Rate>>, from: Rate, to: Rate) -> Result<Option<Rate>, Fault> {
    let Some(At { value: raw::Unit(start), span }) = written else { return Ok(None) };
    if (from..=to).contains(start) {
        return Ok(Some(*start));
    }
    Err(Fault::at(span, format!("`start` is {start}"))
        .help(format!("a rate from `from`, {from}, to `to`, {to}, is accepted")))
}

fn time(
    key: &str,
    written: &Option<Quantity<Nanos>>,
    default: Nanos,
    [least, most]: [Nanos; 2],
) -> Result<Nanos, Fault> {
    let time = positive_or(key, written, default)?;
    match written {
        Some(At { span, .. }) if !(least..=most).contains(&time) => {
            Err(Fault::at(span, format!("`{key}` is {time}"))
                .help(format!("a time from {least} to {most} is accepted")))
        }
        _ => Ok(time),
    }
}

fn share(
    key: &str,
    written: &Option<At<Number>>,
    default: Millionths,
) -> Result<Millionths, Fault> {
    let Some(At { value: Number(share), span }) = written else { return Ok(default) };
    if (1e-6..=1.0).contains(share) {
        return Ok(Millionths((share * 1e6).round() as u32));
    }
    Err(Fault::at(span, format!("`{key}` is {share}"))
        .help("a share above 0 and at most 1, such as 0.1, is accepted"))
}

fn reflectors(written: &[At<String>]) -> Result<Vec<IpAddr>, Fault> {
    if let Some(At { span, .. }) = written.get(MOST_REFLECTORS) {
        return Err(too_many(span));
    }
    let address = |At { value, span }: &At<String>| {
        value.parse().map_err(|_| {
            Fault::at(span, format!("`{}` is no address", shown(value)))
                .help("write the IP address of a host that answers pings, such as \"192.0.2.1\"")
        })
    };
    written.iter().map(address).collect()
}

fn too_many(span: &Span) -> Fault {
    Fault::at(span, format!("more than {MOST_REFLECTORS} reflectors, the most there may be"))
}

fn behind(
    raw: Option<&Table<raw::Behind>>,
    trace: Option<Arc<Trace>>,
) -> Result<BehindSpec, Fault> {
    let plain = BehindSpec { trace, buffer: None, round_trip: Nanos(30_000_000), jitter: None };
    let Some(Table(raw)) = raw else { return Ok(plain) };
    let limits = [Nanos(1), LONGEST_ROUND_TRIP];
    Ok(BehindSpec {
        buffer: raw.buffer.as_ref().map(positive("buffer")).transpose()?,
        round_trip: time("round-trip", &raw.round_trip, plain.round_trip, limits)?,
        jitter: raw.jitter.as_ref().map(|jitter| longer("jitter", jitter)).transpose()?,
        ..plain
    })
}
