//! `[link]`.

use laxity::link::Trace;
use laxity::units::{Bytes, Nanos, Rate};

use std::sync::Arc;

use super::autorate::autorate;
use super::outside::Outside;
use crate::edit;
use crate::error::{Fault, Span};
use crate::model::{AutorateSpec, LONGEST_TRANSMISSION, LinkSpec, Overhead, latency};
use crate::raw::{self, Quantity, positive};

/// The longest frame of Ethernet without tags, without its check sequence.
const LONGEST_FRAME: u32 = 1514;
/// The largest packet that a link may carry.
const LARGEST_PACKET: Bytes = Bytes(1_000_000_000);
pub(super) fn link(raw: raw::Link, outside: &mut Outside<'_>) -> Result<LinkSpec, Fault> {
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
    check_transmission(rate, max_packet, &raw.rate.span)?;
    let trace = raw.rate_trace.as_ref();
    let trace = trace.map(|file| outside.trace(edit::Path::new(["link", "rate-trace"]), file));
    let trace = trace.transpose()?;
    let (trace, autorate) = found(&raw.rate.value, trace)?;
    let latency = latency(rate, trace.as_ref());
    Ok(LinkSpec {
        rate,
        trace,
        autorate,
        overhead,
        max_packet,
        min_packet,
        latency,
        stall: Nanos::ZERO,
    })
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
pub(super) fn delay(raw: &raw::Plan) -> Result<Nanos, Fault> {
    match &raw.link.0.delay {
        Some(delay) if raw.network.0.is_empty() && raw.topology.is_none() => {
            Err(Fault::at(&delay.span, "`delay` without a network: nothing is far away")
                .help("leave it out, or add links as `[network.NAME]` tables"))
        }
        delay => Ok(delay.as_ref().map_or(Nanos::ZERO, |delay| delay.value.0)),
    }
}
