//! A proportional integral controller, PIE.

use std::ops::Range;

use laxity::aqm::{Limit, Pie, Policy};
use laxity::units::Nanos;

use super::room::{ECN, Management, Room, millionths};
use crate::error::Fault;
use crate::keys::Key;
use crate::model::{LinkSpec, QueueLimit, QueueSpec};
use crate::raw::{self, positive};

pub(super) const ROOM: Room = Room {
    keys: &[&[
        Key::new("target", "the waiting time that is aimed at. Default 15ms."),
        Key::new("update", "how often the probability of a drop is moved. Default 15ms."),
        Key::new(
            "alpha",
            "what a second of waiting above `target` adds to the probability. Default 0.125.",
        ),
        Key::new("beta", "what a second by which waiting has grown adds to it. Default 1.25."),
        Key::new("burst", "for how long nothing is dropped at first. Default 150ms."),
        ECN,
    ]],
    read,
    draws: true,
    is_a_limit: false,
};

impl Management for Pie {
    fn limit(&self) -> Limit {
        self.limit
    }

    fn policy(&self) -> Policy {
        Policy::Pie(*self)
    }

    fn on(&self, _: &LinkSpec) -> QueueSpec {
        QueueSpec::Pie(*self)
    }
}

fn read(
    raw: &raw::Queue,
    _: &Range<usize>,
    limit: QueueLimit,
    link: &LinkSpec,
) -> Result<QueueSpec, Fault> {
    let time =
        |key, written: &Option<_>, default| written.as_ref().map_or(Ok(default), positive(key));
    let gain = |key, written: &Option<_>, default| {
        written.as_ref().map_or(Ok(default), |written| millionths(key, Pie::MOST_GAIN, written))
    };
    let [alpha, beta] = Pie::GAINS;
    Ok(QueueSpec::Pie(Pie {
        target: time("target", &raw.target, Pie::TARGET)?,
        update: time("update", &raw.update, Pie::UPDATE)?,
        alpha: gain("alpha", &raw.alpha, alpha)?,
        beta: gain("beta", &raw.beta, beta)?,
        burst: raw.burst.as_ref().map_or(Pie::BURST, |burst: &raw::Quantity<Nanos>| burst.value.0),
        limit: limit.into(),
        ecn: raw.ecn.as_ref().is_some_and(|ecn| ecn.value),
        packet: link.max_packet,
    }))
}
