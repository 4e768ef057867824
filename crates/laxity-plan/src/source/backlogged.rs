//! Always a packet waiting.

use std::ops::Range;

use super::context::Context;
use super::room::{Room, WAY};
use super::values::packets;
use crate::error::Fault;
use crate::keys::Key;
use crate::model::{Model, Police, Source};
use crate::raw::{self, MOST};

pub(super) const ROOM: Room = Room {
    keys: &[
        &[
            Key::common("class"),
            Key::common("packet"),
            Key::common("count"),
            Key::common("start"),
            Key::common("stop"),
        ],
        WAY,
        &[Key::new(
            "window",
            "how many packets it keeps queued, in a network at its first output. Default 2.",
        )],
    ],
    read,
};

fn read(
    context: &mut Context<'_>,
    raw: &raw::Source,
    span: &Range<usize>,
) -> Result<Source, Fault> {
    let class = &context.plan.classes[context.class(raw, span)?.index()];
    if class.police == Police::Drop {
        let message = format!(
            "a backlogged source sends when a packet leaves, and class `{}` drops packets that \
             break its contract instead",
            class.name
        );
        let at = raw.class.as_ref().map_or(span, |class| &class.span);
        let help = "choose a greedy source, which keeps to the contract, or police = \"count\"";
        return Err(Fault::at(at, message).help(help));
    }
    let size = packets(raw.window.as_ref(), "window", 2)?;
    let copies = raw.count.as_ref().map_or(class.count.into(), |count| count.value.0);
    context.queued = context.queued.saturating_add(u64::from(size).saturating_mul(copies));
    if context.queued > MOST as u64 {
        let at = raw.window.as_ref().map_or(span, |window| &window.span);
        return Err(Fault::at(
            at,
            format!("too many packets: all `window`s, times their `count`s, are at most {MOST}"),
        ));
    }
    context.model(raw, span, Model::Backlogged { window: size })
}
