//! `[link]`.

use laxity::link::Trace;
use laxity::units::{Bytes, Nanos, Rate};

use std::sync::Arc;

use super::autorate::autorate;
use super::outside::Outside;
use super::{threads, wire};
use crate::edit;
use crate::error::{Fault, Span};
use crate::model::{AutorateSpec, LONGEST_TRANSMISSION, LinkSpec, Overhead, WireSpec, latency};
use crate::raw::{self, Quantity, positive};

/// The longest frame of Ethernet without tags, without its check sequence.
const LONGEST_FRAME: u32 = 1514;
/// The largest packet that a link may carry.
const LARGEST_PACKET: Bytes = Bytes(1_000_000_000);

/// The link of a plan, which is the only one or stands for those of a network.
pub(super) fn link(
    raw: &raw::Link,
    in_network: bool,
    outside: &mut Outside<'_>,
) -> Result<LinkSpec, Fault> {
    let max = raw.max_packet.as_ref().map(positive("max-packet")).transpose()?;
    let min = raw.min_packet.as_ref().map(positive("min-packet")).transpose()?;
    let overhead = raw.overhead.as_ref().map_or(Overhead::NONE, |overhead| overhead.value.0);
    let max_packet = max.unwrap_or(Bytes(overhead.on_link(LONGEST_FRAME).into()));
    let min_packet = min.unwrap_or(Bytes(40).min(max_packet));
    let written = raw.max_packet.as_ref().or(raw.min_packet.as_ref());
    if let Some(Quantity { span, .. }) = written {
        if max_packet > LARGEST_PACKET {
            return Err(Fault::at(
                span,
                format!("`max-packet` is {max_packet}, above the largest, {LARGEST_PACKET}"),
            ));
        }
        if max_packet < min_packet {
            return Err(Fault::at(
                span,
                format!("`max-packet` is {max_packet}, below `min-packet`, {min_packet}"),
            ));
        }
    }
    let rate = raw.rate.value.least();
    let trace = raw.rate_trace.as_ref();
    let trace = trace.map(|file| outside.trace(edit::Path::new(["link", "rate-trace"]), file));
    let trace = trace.transpose()?;
    let (trace, autorate) = found(&raw.rate.value, trace)?;
    let latency = latency(rate, trace.as_ref());
    let wire = if in_network { no_wire(raw)? } else { wire_of(raw, autorate.is_some())? };
    let link = LinkSpec {
        rate,
        trace,
        wire,
        autorate,
        overhead,
        max_packet,
        min_packet,
        latency,
        stall: Nanos::ZERO,
        threads: None,
    };
    let link = threads::share(link, threads::threads(raw, rate)?);
    check_transmission(link.rate, max_packet, &raw.rate.span)?;
    Ok(link)
}

/// The wire behind the only link, if anything is said of it. A link whose rate is found is there,
/// and is not emulated.
fn wire_of(raw: &raw::Link, is_found: bool) -> Result<Option<WireSpec>, Fault> {
    let raw::Link { delay, loss, jitter, reorder, duplicate, rate_trace, .. } = raw;
    let wire = WireSpec {
        delay: self::delay(raw),
        loss: loss.as_ref().map(|loss| wire::loss(&loss.value)).transpose()?,
        jitter: jitter.as_ref().map(wire::jitter).transpose()?,
        reorder: reorder.as_ref().map(|reorder| wire::reorder(&reorder.value)).transpose()?,
        duplicate: duplicate.as_ref().map(|copies| wire::duplicate(&copies.value)).transpose()?,
    };
    if is_found && (delay.is_some() || wire != WireSpec::default()) {
        return Err(Fault::at(&raw.rate.span, "a `rate` that is found, and a wire to be emulated")
            .help(
                "leave out `delay`, `loss`, `jitter`, `reorder` and `duplicate`, or write one rate",
            ));
    }
    let is_traced = rate_trace.is_some() && !is_found;
    let is_said = delay.is_some() || is_traced || wire != WireSpec::default();
    Ok(is_said.then_some(wire))
}

/// Refuses what only the wire of a single link has in `[link]`.
fn no_wire(raw: &raw::Link) -> Result<Option<WireSpec>, Fault> {
    let written = [
        ("loss", raw.loss.as_ref().map(|loss| &loss.span)),
        ("jitter", raw.jitter.as_ref().map(|jitter| &jitter.span)),
        ("reorder", raw.reorder.as_ref().map(|reorder| &reorder.span)),
        ("duplicate", raw.duplicate.as_ref().map(|duplicate| &duplicate.span)),
    ];
    match written.into_iter().find_map(|(key, span)| Some((key, span?))) {
        None => Ok(None),
        Some((key, span)) => Err(Fault::at(span, format!("`{key}` of all links of a network"))
            .help("write it in the `[network.NAME]` of each link that has it")),
    }
}

/// How the rate of a link itself changes.
type OwnTrace = Option<Arc<Trace>>;

/// The trace and the controller of a link: where a controller finds the rate, it is the link behind
/// that changes.
pub(super) fn found(
    rate: &raw::LinkRate,
    trace: Option<Arc<Trace>>,
) -> Result<(OwnTrace, Option<Arc<AutorateSpec>>), Fault> {
    match rate {
        raw::LinkRate::Fixed(_) => Ok((trace, None)),
        raw::LinkRate::Found(raw) => Ok((None, Some(Arc::new(autorate(raw, trace)?)))),
    }
}

/// Refuses a link that is slower than simulated time can bear.
pub(super) fn check_transmission(
    rate: Rate,
    max_packet: Bytes,
    written: &Span,
) -> Result<(), Fault> {
    let transmission = rate.time_for(max_packet);
    if transmission <= LONGEST_TRANSMISSION {
        return Ok(());
    }
    let message = format!("a largest packet of {max_packet} would take {transmission} at {rate}");
    let help =
        format!("at most {LONGEST_TRANSMISSION} is accepted: raise `rate` or lower `max-packet`");
    Err(Fault::at(written, message).help(help))
}

/// The propagation delay of links that do not say otherwise.
pub(super) fn delay(raw: &raw::Link) -> Nanos {
    raw.delay.as_ref().map_or(Nanos::ZERO, |delay| delay.value.0)
}
