//! One packet after another at a constant rate.

use std::ops::Range;

use super::context::Context;
use super::room::{Room, STREAM, WAY};
use super::values::{distribution, rate};
use crate::error::Fault;
use crate::keys::Key;
use crate::model::{Model, Source};
use crate::raw;

pub(super) const ROOM: Room = Room {
    keys: &[
        STREAM,
        WAY,
        &[
            Key::new("rate", "the mean rate."),
            Key::new(
                "jitter",
                "by how much each packet is later than the rate has it, though never before another\n\
                 one. Default not at all.",
            ),
        ],
    ],
    read,
};

fn read(
    context: &mut Context<'_>,
    raw: &raw::Source,
    span: &Range<usize>,
) -> Result<Source, Fault> {
    let rate = rate(raw, span)?;
    let jitter = raw.jitter.as_ref().map(|raw| distribution("jitter", raw)).transpose()?;
    context.model(raw, span, Model::Constant { rate, jitter })
}
