//! Controlled delay, CoDel.

use std::ops::Range;

use laxity::aqm::{CoDel, Limit, Policy};

use super::room::{ECN, Management, Room};
use crate::error::Fault;
use crate::keys::Key;
use crate::model::{LinkSpec, QueueLimit, QueueSpec};
use crate::raw::{self, positive};

pub(super) const ROOM: Room = Room {
    keys: &[&[
        Key::new("target", "the waiting time that is tolerated. Default 5ms."),
        Key::new("interval", "for how long packets may wait longer than that. Default 100ms."),
        ECN,
    ]],
    read,
    draws: false,
    is_a_limit: false,
};

impl Management for CoDel {
    fn limit(&self) -> Limit {
        self.limit
    }

    fn policy(&self) -> Policy {
        Policy::CoDel(*self)
    }

    fn on(&self, _: &LinkSpec) -> QueueSpec {
        QueueSpec::CoDel(*self)
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
    Ok(QueueSpec::CoDel(CoDel {
        target: time("target", &raw.target, CoDel::TARGET)?,
        interval: time("interval", &raw.interval, CoDel::INTERVAL)?,
        limit: limit.into(),
        ecn: raw.ecn.as_ref().is_some_and(|ecn| ecn.value),
        max_packet: link.max_packet,
    }))
}
