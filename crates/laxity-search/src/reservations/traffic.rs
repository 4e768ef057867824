//! Bursts, and how they and the calls are changed.

use laxity::police::TokenBucket;
use laxity::units::{Bytes, Rate};
use laxity_adversary::arrival::{Allowance, BYTE};
use laxity_adversary::contract::Conduct;
use rand::RngExt;

use super::draft::CallsDraft;
use super::pick;
use crate::Generator;
use crate::draft::ArrivalDraft;

/// Packets at an instant, or as soon as the contract allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// In ns from the begin, or before the end.
    pub at: u64,
    /// Whether it is told from the end.
    pub from_end: bool,
    /// How many.
    pub count: u32,
    /// In thousandths of the longest packet.
    pub length: u32,
}

/// The most packets of a burst.
const LONGEST: u32 = 12;
/// The most bursts of a call, and of what is promised nothing.
const MOST: usize = 6;

/// How long bytes take at a rate, in ns.
pub(super) fn time(bytes: u64, rate: u64) -> u64 {
    (bytes * BYTE).div_ceil(rate)
}

/// Bursts within a time: at its begin, at its end, anywhere.
pub(super) fn draw(lasts: u64, draw: &mut Generator) -> Vec<Burst> {
    let burst = |draw: &mut Generator| Burst {
        at: if draw.random() { 0 } else { draw.random_range(0..lasts) },
        from_end: draw.random(),
        count: draw.random_range(1..=LONGEST),
        length: if draw.random_range(0..3u32) > 0 { 1000 } else { draw.random_range(40..=1000) },
    };
    (0..draw.random_range(1..=3u32)).map(|_| burst(draw)).collect()
}

/// The packets of bursts that keep to a contract and come before an end: times and lengths.
pub(super) fn conforming(
    bursts: &[Burst],
    arrival: Option<&ArrivalDraft>,
    end: u64,
    longest: u64,
) -> Vec<(u64, u32)> {
    let conduct = arrival.map_or(Conduct::Free, |ArrivalDraft { bucket, rate, .. }| {
        Conduct::Keeps(vec![TokenBucket { bucket: Bytes(*bucket), rate: Rate(*rate) }])
    });
    let mut allowance = Allowance::new(&conduct);
    let start = |burst: &Burst| {
        if burst.from_end { (end - 1).saturating_sub(burst.at) } else { burst.at }
    };
    let mut sorted: Vec<(u64, Burst)> = bursts.iter().map(|one| (start(one), *one)).collect();
    sorted.sort_by_key(|(start, _)| *start);
    let (mut packets, mut last) = (Vec::new(), 0);
    for (start, burst) in sorted {
        let length = (longest * u64::from(burst.length) / 1000).clamp(40.min(longest), longest);
        for _ in 0..burst.count {
            let time = allowance.clone().grant(start.max(last), 0, length as u32);
            if time >= end {
                break;
            }
            last = allowance.grant(start.max(last), 0, length as u32);
            packets.push((last, length as u32));
        }
    }
    packets
}

/// A step that means something: a nanosecond, a packet, a deadline, or the time between two
/// moments.
fn step(draft: &CallsDraft, moments: &[u64], draw: &mut Generator) -> u64 {
    let kind = &draft.kinds[draw.random_range(0..draft.kinds.len())];
    let between = |draw: &mut Generator| {
        let [one, other] = [0; 2].map(|_| pick(moments, draw).unwrap_or(0));
        one.abs_diff(other)
    };
    match draw.random_range(0..7u32) {
        0 => 1,
        1 => time(draft.max_packet, draft.rate),
        2 => time(kind.arrival.packet, draft.rate),
        3 => kind.deadline,
        4 => time(kind.arrival.packet, kind.arrival.rate),
        5 => time(kind.arrival.bucket, draft.rate),
        _ => between(draw),
    }
}

fn moved(at: u64, by: u64, draw: &mut Generator) -> u64 {
    if draw.random() { at.saturating_add(by) } else { at.saturating_sub(by) }
}

/// Changes a burst of a call or of the flood.
pub(super) fn change(draft: &mut CallsDraft, moments: &[u64], draw: &mut Generator) {
    let by = step(draft, moments, draw);
    let moment = pick(moments, draw).unwrap_or(0);
    let is_flood = draw.random_range(0..3u32) == 0;
    let number = draw.random_range(0..draft.kinds.len());
    let kind = &draft.kinds[number];
    let (begin, lasts, every) = if is_flood {
        (0, draft.duration, draft.duration)
    } else {
        (kind.every, kind.holding, kind.every)
    };
    let bursts = if is_flood { &mut draft.flood } else { &mut draft.kinds[number].bursts };
    if bursts.is_empty() || bursts.len() < MOST && draw.random_range(0..6u32) == 0 {
        let new = self::draw(lasts, draw)[0];
        return bursts.push(new);
    }
    let at = draw.random_range(0..bursts.len());
    if bursts.len() > 1 && draw.random_range(0..10u32) == 0 {
        bursts.remove(at);
        return;
    }
    let burst = &mut bursts[at];
    match draw.random_range(0..6u32) {
        0 => burst.count = draw.random_range(1..=LONGEST),
        1 => burst.length = [1000, 1000, 40, draw.random_range(40..=1000)][draw.random_range(0..4)],
        2 => {
            // Where another call begins or ends, as one of these calls sees it.
            let begin = begin.max(1) * draw.random_range(1..=4u64);
            burst.from_end = false;
            burst.at = if is_flood { moment } else { moment.saturating_sub(begin) % every.max(1) };
            burst.at = burst.at.saturating_sub(draw.random_range(0..=1u64) * by);
        }
        3 => (burst.at, burst.from_end) = (draw.random_range(0..=1), draw.random()),
        _ => burst.at = moved(burst.at, by, draw).min(lasts),
    }
}

/// Changes when calls of a kind come, or how long they last.
pub(super) fn change_calls(draft: &mut CallsDraft, moments: &[u64], draw: &mut Generator) {
    let by = step(draft, moments, draw);
    let number = draw.random_range(0..draft.kinds.len());
    let shortest = draft.duration / 64 + 2;
    let kind = &mut draft.kinds[number];
    let changed = if draw.random() { &mut kind.every } else { &mut kind.holding };
    *changed = moved(*changed, by, draw).max(shortest);
}
