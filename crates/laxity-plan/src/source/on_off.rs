//! Constant rate while on, silent while off.

use std::ops::Range;

use super::context::Context;
use super::room::{Room, STREAM, WAY};
use super::values::{distribution, longer, off, on, rate};
use crate::error::Fault;
use crate::keys::Key;
use crate::model::{Model, Source};
use crate::raw;

pub(super) const ROOM: Room = Room {
    keys: &[
        STREAM,
        WAY,
        &[
            Key::new("rate", "the rate while on."),
            Key::new("on", "length of an on period."),
            Key::new("off", "length of an off period."),
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
    let on = longer("on", on(raw, span)?)?;
    let off = distribution("off", off(raw, span)?)?;
    context.model(raw, span, Model::OnOff { rate, on, off })
}
