//! CHOKe: early detection, and packets that meet others of their flow.

use std::ops::Range;

use laxity::aqm::{Choke, Limit, Policy};

use super::red;
use super::room::{Management, Room};
use crate::error::Fault;
use crate::keys::Key;
use crate::model::{LinkSpec, QueueLimit, QueueSpec};
use crate::raw::{self, At, Count};

/// The most packets that an arriving one is compared with.
const MOST_CANDIDATES: u64 = 1000;

pub(super) const ROOM: Room = Room {
    keys: &[
        red::KEYS,
        &[Key::new(
            "candidates",
            "how many queued packets an arriving one is compared with. Default 1.",
        )],
    ],
    read,
    draws: true,
    is_a_limit: false,
};

impl Management for Choke {
    fn limit(&self) -> Limit {
        self.red.limit
    }

    fn policy(&self) -> Policy {
        Policy::Choke(*self)
    }

    fn on(&self, link: &LinkSpec) -> QueueSpec {
        QueueSpec::Choke(Choke { red: red::on(&self.red, link), ..*self })
    }
}

fn read(
    raw: &raw::Queue,
    span: &Range<usize>,
    limit: QueueLimit,
    link: &LinkSpec,
) -> Result<QueueSpec, Fault> {
    let candidates = raw.candidates.as_ref().map_or(Ok(1), candidates)?;
    Ok(QueueSpec::Choke(Choke { red: red::red(raw, span, limit, link)?, candidates }))
}

fn candidates(At { value: Count(count), span }: &At<Count>) -> Result<u32, Fault> {
    match *count {
        0 => Err(Fault::zero("candidates", span)),
        1..=MOST_CANDIDATES => Ok(*count as u32),
        _ => Err(Fault::at(span, format!("`candidates` is {count}"))
            .help(format!("1 to {MOST_CANDIDATES} packets are compared"))),
    }
}
