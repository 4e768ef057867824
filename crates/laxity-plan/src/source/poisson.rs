//! Independent exponential gaps.

use std::ops::Range;

use super::context::Context;
use super::room::{Room, STREAM, WAY};
use super::values::rate;
use crate::error::Fault;
use crate::keys::Key;
use crate::model::{Model, Source};
use crate::raw;

pub(super) const ROOM: Room =
    Room { keys: &[STREAM, WAY, &[Key::new("rate", "the mean rate.")]], read };

fn read(
    context: &mut Context<'_>,
    raw: &raw::Source,
    span: &Range<usize>,
) -> Result<Source, Fault> {
    let rate = rate(raw, span)?;
    context.model(raw, span, Model::Poisson { rate })
}
