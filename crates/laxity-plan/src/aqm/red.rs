//! Random early detection, RED.

use laxity::aqm::{Fraction, Measure, Red, Spacing};
use laxity::units::{Bytes, Nanos};

use crate::error::{Fault, Span};
use crate::model::{LinkSpec, QueueLimit};
use crate::raw::{self, At, Number};

/// The most packets or bytes of `min` and `max`: the average counts up to twice that.
const LONGEST: u64 = (1 << 30) - 1;

/// The same on another link: the idle time that counts as one packet is another.
pub(super) fn on(red: &Red, link: &LinkSpec) -> Red {
    Red { transmission: transmission(link), ..*red }
}

fn transmission(link: &LinkSpec) -> Nanos {
    link.rate.time_for(link.max_packet).max(Nanos(1))
}

/// The settings of early detection.
pub(super) fn red(
    raw: &raw::Queue,
    span: &Span,
    limit: QueueLimit,
    link: &LinkSpec,
) -> Result<Red, Fault> {
    use QueueLimit::{Bytes as Size, Packets};
    let (Some(raw_min), Some(raw_max)) = (&raw.min, &raw.max) else {
        let missing = if raw.min.is_none() { "min" } else { "max" };
        let message = format!("`{missing}` is missing");
        return Err(Fault::at(span, message)
            .help("write average lengths such as `min = 50, max = 150` or `min = \"50kB\", max = \"150kB\"`"));
    };
    let (measure, [min, max]) = match (raw_min.value, raw_max.value) {
        (Packets(min), Packets(max)) => (Measure::Packets, [min, max]),
        (Size(Bytes(min)), Size(Bytes(max))) => (Measure::Bytes, [min, max]),
        (Packets(_), Size(_)) | (Size(_), Packets(_)) => {
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
    Ok(Red {
        min,
        max,
        measure,
        limit: limit.into(),
        max_p: Fraction::millionths(millionths("max-p", &raw.max_p, 100_000, 1_000_000)?),
        weight: Fraction::millionths(millionths("weight", &raw.weight, 2_000, 999_999)?),
        gentle: raw.gentle.as_ref().is_none_or(|gentle| gentle.value),
        ecn: raw.ecn.as_ref().is_some_and(|ecn| ecn.value),
        spacing: raw.spacing.as_ref().map_or(Spacing::Uniform, |spacing| spacing.value.0.into()),
        transmission: transmission(link),
    })
}

/// A number in millionths, at least one and at most `most` of them.
fn millionths(key: &str, raw: &Option<At<Number>>, default: u32, most: u32) -> Result<u32, Fault> {
    let Some(At { value: Number(share), span }) = raw else { return Ok(default) };
    let millionths = (share * 1e6).round();
    if (1.0..=f64::from(most)).contains(&millionths) {
        return Ok(millionths as u32);
    }
    let largest = f64::from(most) / 1e6;
    Err(Fault::at(span, format!("`{key}` is {share}"))
        .help(format!("it is at least 0.000001 and at most {largest}")))
}
