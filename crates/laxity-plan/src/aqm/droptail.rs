//! A limit, and a length at which marks begin.

use std::ops::Range;

use laxity::aqm::{Limit, Policy};
use laxity::units::Bytes;

use super::room::{Management, Room, limit};
use crate::error::Fault;
use crate::keys::Key;
use crate::model::{DropTailSpec, LinkSpec, QueueLimit, QueueSpec};
use crate::raw::{self, At};

pub(super) const ROOM: Room = Room {
    keys: &[&[Key::new(
        "mark",
        "a packet that would exceed this is marked, if it is capable of ECN: what\nDCTCP lives on (RFC 8257). Below `limit`, and measured alike. Default none is.",
    )]],
    read,
    draws: false,
    is_a_limit: true,
};

impl Management for DropTailSpec {
    fn limit(&self) -> Limit {
        self.limit.into()
    }

    fn policy(&self) -> Policy {
        Policy::DropTail { limit: self.limit(), mark: self.mark.map_or(Limit::None, Limit::from) }
    }

    fn on(&self, _: &LinkSpec) -> QueueSpec {
        QueueSpec::DropTail(*self)
    }
}

fn read(
    raw: &raw::Queue,
    _: &Range<usize>,
    limit: QueueLimit,
    _: &LinkSpec,
) -> Result<QueueSpec, Fault> {
    let mark = raw.mark.as_ref().map(|mark| threshold(mark, limit)).transpose()?;
    Ok(QueueSpec::DropTail(DropTailSpec { limit, mark }))
}

fn threshold(raw: &At<raw::Limit>, most: QueueLimit) -> Result<QueueLimit, Fault> {
    use QueueLimit::{Bytes as Size, Packets};
    let mark = limit("mark", raw)?;
    match (mark, most) {
        (Packets(mark), Packets(most)) | (Size(Bytes(mark)), Size(Bytes(most))) if mark < most => {}
        (Packets(_), Packets(_)) | (Size(_), Size(_)) => {
            let message = "`mark` is not below `limit`: what would be marked is dropped";
            return Err(
                Fault::at(&raw.span, message).help("write a smaller `mark`, or a larger `limit`")
            );
        }
        (Packets(_), Size(_)) | (Size(_), Packets(_)) => {
            let message = "`mark` and `limit` are not measured alike";
            return Err(Fault::at(&raw.span, message)
                .help("write both in packets, as in 50, or both in bytes, as in \"50kB\""));
        }
    }
    Ok(mark)
}
