//! What every model of a source says of itself.

use std::ops::Range;

use super::context::Context;
use crate::error::Fault;
use crate::keys::{Key, Keys};
use crate::model::Source;
use crate::raw;

/// What is the same of a model whatever its settings.
pub(super) struct Room {
    /// The keys of `[[source]]` that it takes besides `model`.
    pub keys: Keys,
    /// A source of it from `[[source]]`.
    pub read: fn(&mut Context<'_>, &raw::Source, &Range<usize>) -> Result<Source, Fault>,
}

/// The keys of sources whose packets come whatever becomes of those before.
pub(super) const STREAM: &[Key] = &[
    Key::common("class"),
    Key::common("packet"),
    Key::common("count"),
    Key::common("start"),
    Key::common("stagger"),
    Key::common("stop"),
];

/// The keys of the way that packets take through a network.
pub(super) const WAY: &[Key] =
    &[Key::common("path"), Key::common("from"), Key::common("to"), Key::common("laps")];
