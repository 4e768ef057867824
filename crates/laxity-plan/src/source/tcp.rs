//! Connections of TCP.

use laxity::packet::Ecn;
use laxity::units::{Bytes, Nanos};

use super::context::Context;
use super::values::{distribution, longer, need, packets};
use crate::error::{Fault, Span};
use crate::model::{
    Dist, Hop, Plan, Source, TcpCongestion, TcpRecovery, TcpSlowStart, TcpSource, TcpTimer,
    TcpVariant,
};
use crate::raw::{self, At, Quantity, positive};

/// The widest receiver's window in segments unless the plan says otherwise: about 6 MB.
const DEFAULT_WINDOW: u32 = 4000;
/// RFC 6928.
const DEFAULT_INITIAL_WINDOW: u32 = 10;
/// Common systems'.
const DEFAULT_MIN_TIMEOUT: Nanos = Nanos(200_000_000);

/// The keys of connections that sources of packets do not have, or have with another meaning.
pub(super) const KEYS: &[&str] = &[
    "variant",
    "loss-detection",
    "congestion",
    "ack",
    "transfer",
    "pause",
    "every",
    "window",
    "initial-window",
    "slow-start",
    "pacing",
    "delayed-acks",
    "limited-transmit",
    "ecn",
    "l4s",
    "min-timeout",
    "tick",
    "jitter",
];

pub(super) fn read(
    context: &mut Context<'_>,
    raw: &raw::Source,
    span: &Span,
) -> Result<Source, Fault> {
    let (class, count) = context.class_and_count(raw, span)?;
    let path = context.path(raw, class, count, span)?;
    let plan = context.plan;
    if plan.network.is_none() {
        let message = "`model = \"tcp\"` without a network: acknowledgements need a way back";
        return Err(Fault::at(&raw.model.span, message)
            .help("add links, such as `[network.uplink]` with `between = [\"a\", \"b\"]`"));
    }
    if let (None, Some(pause)) = (&raw.transfer, &raw.pause) {
        let message = "`pause` without `transfer`: a transfer without end is followed by none";
        return Err(Fault::at(&pause.span, message).help("add `transfer = \"100kB\"`"));
    }
    let every = every(raw)?;
    let packet = packet(raw, plan, span)?;
    let (recovery, congestion) = variant(raw)?;
    let window = packets(raw.window.as_ref(), "window", DEFAULT_WINDOW)?;
    Ok(Source::Tcp(TcpSource {
        class,
        count,
        jitter: jitter(raw, plan, &path, packet)?,
        path,
        recovery,
        congestion,
        packet,
        ack: raw.ack.as_ref().map_or(Ok(plan.link.min_packet), |ack| length(ack, "ack", plan))?,
        transfer: raw.transfer.as_ref().map(|raw| longer("transfer", raw)).transpose()?,
        pause: raw
            .pause
            .as_ref()
            .map_or(Ok(Dist::Constant(Nanos::ZERO)), |raw| distribution("pause", raw))?,
        every,
        window,
        initial_window: packets(
            raw.initial_window.as_ref(),
            "initial-window",
            DEFAULT_INITIAL_WINDOW.min(window),
        )?,
        slow_start: slow_start(raw, congestion)?,
        pacing: pacing(raw, congestion)?,
        delayed_acks: raw.delayed_acks.as_ref().is_none_or(|at| at.value),
        limited_transmit: raw.limited_transmit.as_ref().is_none_or(|at| at.value),
        ecn: ecn(raw, congestion)?,
        timer: timer(raw)?,
        start: raw.start.as_ref().map_or(Nanos::ZERO, |start| start.value.0),
        stagger: raw.stagger.as_ref().map_or(Nanos::ZERO, |stagger| stagger.value.0),
    }))
}

fn variant(raw: &raw::Source) -> Result<(TcpRecovery, TcpCongestion), Fault> {
    let variant = raw.variant.as_ref().map_or(TcpVariant::Cubic, |variant| variant.value.0);
    let (recovery, congestion) = variant.parts();
    let congestion = raw.congestion.as_ref().map_or(congestion, |congestion| congestion.value.0);
    let recovery = match &raw.loss_detection {
        Some(At { value, span })
            if congestion == TcpCongestion::Bbr && value.0 != TcpRecovery::RackTlp =>
        {
            let message = "`congestion = \"bbr\"` with another `loss-detection` than `rack-tlp`";
            return Err(Fault::at(span, message).help("leave `loss-detection` out"));
        }
        Some(recovery) => recovery.value.0,
        None if congestion == TcpCongestion::Bbr => TcpRecovery::RackTlp,
        None => recovery,
    };
    Ok((recovery, congestion))
}

fn pacing(raw: &raw::Source, congestion: TcpCongestion) -> Result<bool, Fault> {
    let needed = congestion == TcpCongestion::Bbr;
    match &raw.pacing {
        Some(At { value: false, span }) if needed => {
            let message =
                "`pacing = false` under `congestion = \"bbr\"`, which says at what rate to send";
            Err(Fault::at(span, message).help("leave `pacing` out, or choose another `congestion`"))
        }
        written => Ok(written.as_ref().map_or(needed, |at| at.value)),
    }
}

fn slow_start(raw: &raw::Source, congestion: TcpCongestion) -> Result<TcpSlowStart, Fault> {
    match &raw.slow_start {
        Some(At { span, .. }) if congestion == TcpCongestion::Bbr => {
            let message =
                "`slow-start` under `congestion = \"bbr\"`, which has a startup of its own";
            Err(Fault::at(span, message).help("leave `slow-start` out"))
        }
        written => Ok(written.as_ref().map_or(TcpSlowStart::Standard, |at| at.value.0)),
    }
}

fn every(raw: &raw::Source) -> Result<Option<Dist<Nanos>>, Fault> {
    let Some(every) = &raw.every else { return Ok(None) };
    if raw.transfer.is_none() {
        let message = "`every` without `transfer`: a transfer without end is followed by none";
        return Err(Fault::at(&every.span, message).help("add `transfer = \"100kB\"`"));
    }
    if let Some(pause) = &raw.pause {
        let message =
            "`pause` beside `every`: a transfer is asked for after the last one or by time";
        return Err(Fault::at(&pause.span, message).help("leave one of them out"));
    }
    longer("every", every).map(Some)
}

/// RFC 9331, section 4.3: ECT(1) is for senders that answer to the share of marks.
fn ecn(raw: &raw::Source, congestion: TcpCongestion) -> Result<Ecn, Fault> {
    let capable = is_capable(raw, congestion)?;
    match &raw.l4s {
        Some(At { value: true, span }) if congestion != TcpCongestion::Dctcp => {
            let message = "`l4s = true` without `congestion = \"dctcp\"`: L4S is for senders that answer to \
                           how many segments are marked";
            Err(Fault::at(span, message).help("leave `l4s` out, or write `congestion = \"dctcp\"`"))
        }
        Some(At { value: true, .. }) => Ok(Ecn::L4s),
        _ if capable => Ok(Ecn::Capable),
        _ => Ok(Ecn::NotCapable),
    }
}

fn is_capable(raw: &raw::Source, congestion: TcpCongestion) -> Result<bool, Fault> {
    let needed = congestion == TcpCongestion::Dctcp;
    match &raw.ecn {
        Some(At { value: false, span }) if needed => {
            let message = "`ecn = false` under `congestion = \"dctcp\"`, which lives on marks";
            Err(Fault::at(span, message).help("leave `ecn` out, or choose another `congestion`"))
        }
        Some(At { value: true, span }) if congestion == TcpCongestion::Bbr => {
            let message = "`ecn = true` under `congestion = \"bbr\"`, which has no answer to marks";
            Err(Fault::at(span, message).help("leave `ecn` out, or choose another `congestion`"))
        }
        written => Ok(written.as_ref().map_or(needed, |at| at.value)),
    }
}

fn packet(raw: &raw::Source, plan: &Plan, span: &Span) -> Result<Bytes, Fault> {
    let packet = need(&raw.packet, "packet", "\"1500b\"", span)?;
    match packet.value.0 {
        Dist::Constant(size) => {
            length(&At { value: raw::Unit(size), span: packet.span.clone() }, "packet", plan)
        }
        _ => Err(Fault::at(&packet.span, "TCP's segments are of one length, not drawn")
            .help("write a size such as \"1500b\"")),
    }
}

fn length(raw: &Quantity<Bytes>, key: &str, plan: &Plan) -> Result<Bytes, Fault> {
    let size = positive(key)(raw)?;
    let max = plan.link.max_packet;
    if size > max {
        Err(Fault::at(
            &raw.span,
            format!("`{key}` is {size}, above the link's `max-packet`, {max}"),
        ))
    } else {
        Ok(size)
    }
}

/// Unless the plan says otherwise up to a segment's time at the bottleneck, which takes senders out
/// of step (Floyd, Jacobson 1992).
fn jitter(
    raw: &raw::Source,
    plan: &Plan,
    path: &[Hop],
    packet: Bytes,
) -> Result<Dist<Nanos>, Fault> {
    let Some(raw) = &raw.jitter else {
        let rates = plan
            .network
            .iter()
            .flat_map(|network| path.iter().map(|hop| network.links[hop.link.index()].rate));
        let longest = rates.min().map_or(Nanos::ZERO, |slowest| slowest.time_for(packet));
        return Ok(Dist::Uniform(Nanos::ZERO, longest));
    };
    let dist = distribution("jitter", raw)?;
    let always = match dist {
        Dist::Constant(time) | Dist::Normal(time, Nanos::ZERO) => time,
        Dist::Uniform(from, to) if from == to => from,
        _ => Nanos::ZERO,
    };
    match always {
        Nanos::ZERO => Ok(dist),
        always => {
            let message = format!("`jitter` is always {always}, which takes no sender out of step");
            Err(Fault::at(&raw.span, message).help(format!(
                "write {{ uniform = [\"0s\", \"{always}\"] }}, or \"0s\" for none; what delays every \
                 packet alike is a link's `delay`"
            )))
        }
    }
}

fn timer(raw: &raw::Source) -> Result<TcpTimer, Fault> {
    match (&raw.min_timeout, &raw.tick) {
        (Some(_), Some(tick)) => {
            Err(Fault::at(&tick.span, "`tick` beside `min-timeout`: a timer is of one kind")
                .help("leave one of them out"))
        }
        (None, Some(tick)) => Ok(TcpTimer::Coarse { tick: positive("tick")(tick)? }),
        (Some(min), None) => Ok(TcpTimer::Fine { min: positive("min-timeout")(min)? }),
        (None, None) => Ok(TcpTimer::Fine { min: DEFAULT_MIN_TIMEOUT }),
    }
}
