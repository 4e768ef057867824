//! The streams of a class: how many, when they are due and what they may lose.

use laxity::sched::dwcs::Late;
use laxity::units::Nanos;
use laxity::window::Loss;

use crate::error::Fault;
use crate::raw::{self, At, Count, MOST, positive};

/// The most packets that the windows of all streams hold together, a bit each.
const MOST_IN_WINDOWS: u64 = 1_000_000_000;

pub(super) struct Streams {
    pub count: u32,
    pub gap: Option<Nanos>,
    pub loss: Option<Loss>,
    pub late: Late,
}

/// Refuses more streams, or more memory for their windows, than there may be.
pub(super) fn check_total<'a>(classes: impl Iterator<Item = &'a raw::Class>) -> Result<(), Fault> {
    let (mut streams, mut in_windows) = (0u64, 0u64);
    for class in classes {
        let count = class.count.as_ref().map_or(1, |count| count.value.0);
        if let Some(At { span, .. }) = &class.count {
            streams = streams.saturating_add(count);
            if streams > MOST as u64 {
                let message = format!(
                    "too many streams: the `count`s of all classes together are at most {MOST}"
                );
                return Err(Fault::at(span, message));
            }
        }
        if let Some(At { value: raw::Loss(loss), span }) = &class.loss {
            in_windows = in_windows.saturating_add(count.saturating_mul(loss.window().into()));
            if in_windows > MOST_IN_WINDOWS {
                let message = format!(
                    "the windows of all streams together hold more than {MOST_IN_WINDOWS} packets"
                );
                return Err(Fault::at(span, message)
                    .help("write a smaller second number in `loss`, or a smaller `count`"));
            }
        }
    }
    Ok(())
}

pub(super) fn class_streams(raw: &raw::Class) -> Result<Streams, Fault> {
    let gap = raw.gap.as_ref().map(positive("gap")).transpose()?;
    let has_deadlines = gap.is_some() || raw.deadline.is_some();
    let loss = raw.loss.as_ref().map(|at| (at.value.0, &at.span));
    let late = raw.late.as_ref().map(|at| (Late::from(at.value.0), &at.span));
    let needing = [("loss", loss.map(|(_, span)| span)), ("late", late.map(|(_, span)| span))];
    if let Some((key, Some(span))) = needing.into_iter().find(|(_, span)| span.is_some())
        && !has_deadlines
    {
        let message =
            format!("`{key}` without `gap` or `deadline`: without deadlines no packet is late");
        return Err(Fault::at(span, message).help("add `gap = \"33ms\"`, the time between packets"));
    }
    let unsaid = if loss.is_some() { Late::Drop } else { Late::Send };
    Ok(Streams {
        count: raw.count.as_ref().map_or(Ok(1), count)?,
        gap,
        loss: loss.map(|(loss, _)| loss),
        late: late.map_or(unsaid, |(late, _)| late),
    })
}

/// How many streams there are, which [`check_total`] has found to be few enough.
fn count(At { value: Count(count), span }: &At<Count>) -> Result<u32, Fault> {
    match u32::try_from(*count) {
        Ok(0) => Err(Fault::zero("count", span)),
        count => Ok(count.unwrap_or(u32::MAX)),
    }
}
