//! Random early detection, RED.

use std::ops::Range;

use laxity::aqm::{Fraction, Limit, Measure, Policy, Red, Spacing};
use laxity::units::{Bytes, Nanos};

use super::room::{ECN, Management, Room};
use crate::error::Fault;
use crate::keys::Key;
use crate::model::{LinkSpec, QueueLimit, QueueSpec};
use crate::raw::{self, At, Number};

/// The most packets or bytes of `min` and `max`: the average counts up to twice that.
const LONGEST: u64 = (1 << 30) - 1;

pub(super) const ROOM: Room = Room {
    keys: &[KEYS],
    read: |raw, span, limit, link| Ok(QueueSpec::Red(red(raw, span, limit, link)?)),
    draws: true,
    is_a_limit: false,
};

/// The keys of early detection.
pub(super) const KEYS: &[Key] = &[
    Key::new("min", "the average length from which on packets are dropped."),
    Key::new("max", "the average length at which `max-p` is reached, measured like `min`."),
    Key::new("max-p", "the probability of a drop just below `max`. Default 0.1."),
    Key::new("weight", "what one arrival counts in the average. Default 0.002."),
    Key::new(
        "gentle",
        "above `max` the probability grows to 1 at twice `max`, instead of being 1.\nDefault true.",
    ),
    Key::new("spacing", "how drops are spread. Default uniform."),
    ECN,
];

impl Management for Red {
    fn limit(&self) -> Limit {
        self.limit
    }

    fn policy(&self) -> Policy {
        Policy::Red(*self)
    }

    fn on(&self, link: &LinkSpec) -> QueueSpec {
        QueueSpec::Red(on(self, link))
    }
}

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
    span: &Range<usize>,
    limit: QueueLimit,
    link: &LinkSpec,
) -> Result<Red, Fault> {
    let (Some(raw_min), Some(raw_max)) = (&raw.min, &raw.max) else {
        let missing = if raw.min.is_none() { "min" } else { "max" };
        let message = format!("`{missing}` is missing");
        return Err(Fault::at(span, message)
            .help("write average lengths such as `min = 50, max = 150` or `min = \"50kB\", max = \"150kB\"`"));
    };
    let (measure, [min, max]) = match (raw_min.value, raw_max.value) {
        (raw::Limit::Packets(min), raw::Limit::Packets(max)) => (Measure::Packets, [min, max]),
        (raw::Limit::Bytes(Bytes(min)), raw::Limit::Bytes(Bytes(max))) => {
            (Measure::Bytes, [min, max])
        }
        (raw::Limit::Packets(_), raw::Limit::Bytes(_))
        | (raw::Limit::Bytes(_), raw::Limit::Packets(_)) => {
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
        transmission: transmission(link),
    })
}

fn millionths(
    key: &str,
    At { value: Number(share), span }: &At<Number>,
    most: u32,
) -> Result<u32, Fault> {
    let millionths = (share * 1e6).round();
    if (1.0..=f64::from(most)).contains(&millionths) {
        return Ok(millionths as u32);
    }
    let largest = f64::from(most) / 1e6;
    Err(Fault::at(span, format!("`{key}` is {share}"))
        .help(format!("it is at least 0.000001 and at most {largest}")))
}
