//! What streams need, and how many services there are for them.

use num_traits::{Signed, ToPrimitive, Zero};

use super::condition::UnmetCondition;
use crate::curve::{Exact, bytes_per_nano, exact, exact_bytes, exact_nanos};
use crate::packet::ClassId;
use crate::sched::dwcs::{DwcsSettings, Late, Precedence, Stream, Streams};
use crate::units::{Bytes, Nanos, Rate};
use crate::window::Loss;

/// A class of alike streams, and what they send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowClass {
    /// The streams; without a gap they have no deadlines, are promised nothing and use what is
    /// left.
    pub streams: Streams,
    /// Their longest packet.
    pub packet: Bytes,
}

/// Whether what is proved of consecutive windows holds for sliding ones, too: where a window may
/// lose nothing, or everything.
pub fn holds_for_sliding_windows(loss: Loss) -> bool {
    loss.lost() == 0 || loss.lost() == loss.window()
}

/// Whether anything is proved of streams that are served like this.
pub(super) fn provable(settings: &DwcsSettings) -> Result<(), UnmetCondition> {
    if settings.precedence != Precedence::DeadlineFirst {
        return Err(UnmetCondition::LossFirst);
    }
    match settings.check_every {
        1 => Ok(()),
        rarely => Err(UnmetCondition::ChecksRarely(rarely)),
    }
}

/// Whether a stream may make others' packets late by its own late ones.
pub(super) fn sends_late(stream: &Stream) -> bool {
    stream.late == Late::Send && !holds_for_sliding_windows(stream.loss)
}

/// How many packets are begun, at least, in a time of length `gap` while streams have some, which
/// are no longer than `longest`, beside packets of this length that have no deadline.
pub(super) fn services_between_deadlines(
    rate: Rate,
    gap: Nanos,
    longest: Bytes,
    beside: Bytes,
) -> u64 {
    let blocking = longest.max(beside);
    let after_blocking = exact_nanos(gap) * bytes_per_nano(rate) - exact_bytes(blocking);
    if after_blocking.is_negative() {
        return 0;
    }
    let later = (after_blocking / exact_bytes(longest.max(Bytes(1)))).floor();
    later.to_integer().to_u64().unwrap_or(u64::MAX).saturating_add(1)
}

pub(super) fn longest_without_gap(classes: &[WindowClass]) -> Bytes {
    let without = classes.iter().filter(|class| class.streams.stream.gap.is_none());
    without.map(|class| class.packet).max().unwrap_or_default()
}

/// What each of some streams takes.
pub(super) struct Demand<K> {
    pub of: K,
    pub count: u64,
    pub each: Exact,
}

/// Summed in halves: denominators grow with the number of terms, and sums of long ones are few
/// then.
pub(super) fn total<K>(demands: &[Demand<K>]) -> Exact {
    match demands {
        [] => Exact::zero(),
        [one] => &one.each * exact(one.count),
        _ => {
            let (first, second) = demands.split_at(demands.len() / 2);
            total(first) + total(second)
        }
    }
}

/// (1 - x/y) C/T.
pub(super) fn load(rate: Rate, class: &WindowClass, gap: Nanos) -> Exact {
    let time = exact_bytes(class.packet) / bytes_per_nano(rate);
    needed(class.streams.stream.loss) * time / exact_nanos(gap)
}

/// 1 - x/y.
pub(super) fn needed(loss: Loss) -> Exact {
    Exact::new((loss.window() - loss.lost()).into(), loss.window().into())
}

pub(super) fn with_gap(
    classes: &[WindowClass],
) -> impl Iterator<Item = (ClassId, &WindowClass, Nanos)> {
    (0..).map(ClassId).zip(classes).filter_map(|(id, class)| {
        let Streams { stream: Stream { gap, .. }, count } = class.streams;
        gap.filter(|_| count > 0).map(|gap| (id, class, gap))
    })
}
