//! As fast as the class's arrival curve allows, in bursts.

use std::ops::Range;

use super::context::Context;
use super::room::{Room, STREAM, WAY};
use super::values::{distribution, longer, need};
use crate::error::Fault;
use crate::keys::Key;
use crate::model::{Model, Source};
use crate::raw;

pub(super) const ROOM: Room = Room {
    keys: &[
        STREAM,
        WAY,
        &[Key::new("burst", "length of a burst."), Key::new("spacing", "pause between bursts.")],
    ],
    read,
};

fn read(
    context: &mut Context<'_>,
    raw: &raw::Source,
    span: &Range<usize>,
) -> Result<Source, Fault> {
    let class = &context.plan.classes[context.class(raw, span)?.index()];
    if class.arrival.is_none() {
        let name = &class.name;
        let message = format!(
            "a greedy source follows the `arrival` of its class, and class `{name}` has none"
        );
        let at = raw.class.as_ref().map_or(span, |class| &class.span);
        return Err(
            Fault::at(at, message).help("add `arrival` to the class, or choose another model")
        );
    }
    let burst = need(&raw.burst, "burst", "{ uniform = [\"2ms\", \"4ms\"] }", span)?;
    let spacing = need(&raw.spacing, "spacing", "{ uniform = [\"6ms\", \"10ms\"] }", span)?;
    let burst = longer("burst", burst)?;
    let spacing = distribution("spacing", spacing)?;
    context.model(raw, span, Model::Greedy { burst, spacing })
}
