//! A limit and nothing else.

use laxity::aqm::{Limit, Policy};

use super::room::{Management, Room};
use crate::model::{LinkSpec, QueueLimit, QueueSpec};

pub const ROOM: Room = Room {
    keys: &[],
    read: |_, _, limit, _| Ok(QueueSpec::DropTail(limit)),
    draws: false,
    is_a_limit: true,
};

impl Management for QueueLimit {
    fn limit(&self) -> Limit {
        (*self).into()
    }

    fn policy(&self) -> Policy {
        Policy::DropTail((*self).into())
    }

    fn on(&self, _: &LinkSpec) -> QueueSpec {
        QueueSpec::DropTail(*self)
    }
}
