//! What every queue management says of itself.

use std::ops::Range;

use laxity::aqm::{Limit, Policy};
use laxity::units::Bytes;

use crate::error::Fault;
use crate::keys::{Key, Keys};
use crate::model::{LinkSpec, QueueLimit, QueueSpec};
use crate::raw::{self, At, Number};

/// A queue management with its settings.
pub trait Management {
    /// What the queue never exceeds.
    fn limit(&self) -> Limit;

    /// The policy that stands in front of a scheduler.
    fn policy(&self) -> Policy;

    /// The same on another link, whose packets take another time.
    fn on(&self, link: &LinkSpec) -> QueueSpec;
}

/// What is the same of a queue management whatever its settings.
pub struct Room {
    /// The keys of `queue` that it takes besides `kind` and `limit`.
    pub(crate) keys: Keys,
    /// Its settings from `queue`, with their limit.
    pub(crate) read:
        fn(&raw::Queue, &Range<usize>, QueueLimit, &LinkSpec) -> Result<QueueSpec, Fault>,
    /// Whether it drops by chance, so that a run depends on its seed.
    pub draws: bool,
    /// Whether it drops nothing but what exceeds its limit.
    pub is_a_limit: bool,
}

/// A key that has one meaning wherever it is taken.
pub(super) const ECN: Key = Key::new(
    "ecn",
    "packets that are capable of ECN are marked instead of dropped.\nDefault false.",
);

/// A limit of packets or bytes that is not zero.
pub(crate) fn limit(key: &str, raw: &At<raw::Limit>) -> Result<QueueLimit, Fault> {
    match raw.value {
        raw::Limit::Packets(0) | raw::Limit::Bytes(Bytes(0)) => Err(Fault::zero(key, &raw.span)),
        raw::Limit::Packets(count) => Ok(QueueLimit::Packets(count)),
        raw::Limit::Bytes(size) => Ok(QueueLimit::Bytes(size)),
    }
}

/// A number in millionths, at most `most` of them.
pub(crate) fn millionths(key: &str, most: u32, raw: &At<Number>) -> Result<u32, Fault> {
    let At { value: Number(written), span } = raw;
    let millionths = (written * 1e6).round();
    if (0.0..=f64::from(most)).contains(&millionths) {
        return Ok(millionths as u32);
    }
    let largest = f64::from(most) / 1e6;
    Err(Fault::at(span, format!("`{key}` is {written}")).help(format!("it is 0 to {largest}")))
}
