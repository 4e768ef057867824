//! The service curves of a class.

use laxity::sched::hfsc::Curves;
use laxity::service::{ServiceCurve, ServiceCurveError};
use laxity::units::{Bytes, Nanos, Rate};

use crate::error::{Fault, Span};
use crate::raw::{self, At, Curve, Pieces, Quantity, Slope, positive};

/// What the keys `curve`, `real-time`, `link-share` and `upper-limit` of a class come to, `curve`
/// standing for the first two.
pub(super) fn class_curves(raw: &raw::Class, is_leaf: bool) -> Result<Curves, Fault> {
    let [curve, real_time, link_share, upper_limit] =
        [&raw.curve, &raw.real_time, &raw.link_share, &raw.upper_limit].map(Option::as_deref);
    let parts = [("real-time", real_time), ("link-share", link_share)];
    for (key, part) in parts {
        if let (Some(_), Some(At { span, .. })) = (curve, part) {
            let message = format!("`{key}` beside `curve`, which stands for it");
            let help = "write `curve`, or `real-time` and `link-share` in its place";
            return Err(Fault::at(span, message).help(help));
        }
    }
    if let (Some(At { span, .. }), None, None) = (upper_limit, curve, link_share) {
        let message = "`upper-limit` without a curve to limit";
        let help = "add `link-share`, or `curve`: a real-time curve alone is not limited";
        return Err(Fault::at(span, message).help(help));
    }
    let read = |key| move |at: &At<Curve>| service_curve(at, key);
    let curve = curve.map(read("curve")).transpose()?;
    Ok(Curves {
        real_time: real_time.map(read("real-time")).transpose()?.or(curve.filter(|_| is_leaf)),
        link_share: link_share.map(read("link-share")).transpose()?.or(curve),
        upper_limit: upper_limit.map(read("upper-limit")).transpose()?,
    })
}

fn service_curve(At { value, span }: &At<Curve>, key: &str) -> Result<ServiceCurve, Fault> {
    let pieces = match value {
        Curve::Linear(rate) => return Ok(ServiceCurve::linear(*rate)),
        Curve::Pieces(pieces) => pieces,
    };
    match pieces {
        Pieces {
            burst: Some(burst),
            delay: Some(delay),
            rate: Some(rate),
            m1: None,
            d: None,
            m2: None,
        } => for_burst(burst, delay, rate.value.0),
        Pieces { m1: Some(m1), d: Some(d), m2: Some(m2), burst: None, delay: None, rate: None } => {
            two_piece(m1, d, m2.value.0)
        }
        _ => Err(incomplete(pieces, key, span)),
    }
}

fn for_burst(
    burst: &Quantity<Bytes>,
    delay: &Quantity<Nanos>,
    rate: Rate,
) -> Result<ServiceCurve, Fault> {
    let (work, time) = (positive("burst")(burst)?, positive("delay")(delay)?);
    if Rate::LIMIT.time_for(work) > time {
        let limit = Rate::LIMIT;
        let message =
            format!("`delay` is {time}, less than {work} take at {limit}, the highest rate");
        return Err(Fault::at(&delay.span, message));
    }
    Ok(ServiceCurve::for_burst(work, time, rate))
}

fn two_piece(m1: &Quantity<Slope>, d: &Quantity<Nanos>, m2: Rate) -> Result<ServiceCurve, Fault> {
    let time =
        positive("d")(d).map_err(|fault| fault.help("for one slope write the rate alone"))?;
    let slope = m1.value.0.0;
    ServiceCurve::two_piece(slope, time, m2).map_err(|error| match error {
        ServiceCurveError::SlowStart { m1: slope, m2 } => {
            let message = format!("`m1` is {slope}, between zero and `m2`, {m2}");
            Fault::at(&m1.span, message).help(format!(
                "write \"0bit\", or at least \"{m2}\": a curve that grows steeper begins flat, for only \
                 such a curve keeps its shape when the class falls idle and comes back"
            ))
        }
    })
}

/// Keys of both forms, or too few of one.
fn incomplete(pieces: &Pieces, key: &str, span: &Span) -> Fault {
    let Pieces { burst, delay, rate, m1, d, m2 } = pieces;
    let one = [("burst", burst.is_some()), ("delay", delay.is_some()), ("rate", rate.is_some())];
    let other = [("m1", m1.is_some()), ("d", d.is_some()), ("m2", m2.is_some())];
    let begun = |form: &[(&str, bool)]| form.iter().any(|(_, written)| *written);
    let missing = |form: &[(&'static str, bool)]| {
        let missing = form.iter().find(|(_, written)| !written);
        missing.map(|(missing, _)| format!("`{missing}` is missing from `{key}`"))
    };
    let message = match (begun(&one), begun(&other)) {
        (true, false) => missing(&one),
        (false, true) => missing(&other),
        (true, true) => Some(format!("`{key}` mixes two ways to write a curve")),
        (false, false) => Some(format!("`{key}` is empty")),
    };
    Fault::at(span, message.unwrap_or_default()).help(
        "write { burst = \"160b\", delay = \"5ms\", rate = \"64kbit\" }, \
         { m1 = \"256kbit\", d = \"5ms\", m2 = \"64kbit\" }, or the rate alone",
    )
}
