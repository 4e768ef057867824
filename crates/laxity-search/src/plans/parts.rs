//! What plans of several disciplines are made of.

use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::Generator;
use crate::draft::{ArrivalDraft, Draft};

/// The link of a plan without classes, and the longest packet.
pub(super) fn link(scheduler: &str, draw: &mut Generator) -> Draft {
    let rates =
        [1_000_000, 2_000_000, 8_000_000, 10_000_000, 9_999_991, 100_000_000, 1_000_000_000];
    Draft {
        rate: pick(&rates, draw),
        max_packet: pick(&[1_500, 1_500, 1_514, 1_000, 1_536, 576, 9_000], draw),
        scheduler: scheduler.to_string(),
        ..Draft::default()
    }
}

pub(super) fn pick<T: Copy>(values: &[T], draw: &mut Generator) -> T {
    *values.choose(draw).expect("values to pick from")
}

pub(super) fn chance(of: u32, draw: &mut Generator) -> bool {
    draw.random_range(0..of) == 0
}

/// A contract of up to `most` bits a second in the long run.
pub(super) fn arrival(max_packet: u64, most: u64, draw: &mut Generator) -> ArrivalDraft {
    let packet = match draw.random_range(0..3u32) {
        0 => max_packet,
        1 => pick(&[64, 100, 200, 500, 1_000], draw).min(max_packet),
        _ => draw.random_range(40..=max_packet),
    };
    let packets = if chance(3, draw) { 1 } else { draw.random_range(1..10u64) };
    let rest = if chance(2, draw) { 0 } else { draw.random_range(0..packet) };
    let rate = draw.random_range(most.div_ceil(20)..=most).max(1_000);
    let peak = chance(4, draw).then(|| rate * draw.random_range(1..5u64));
    ArrivalDraft { bucket: packets * packet + rest, rate, packet, shortest: None, peak }
}

/// Parts of a whole, some hundredths of it left over if it is to be so.
pub(super) fn parts(whole: u64, count: usize, all: bool, draw: &mut Generator) -> Vec<u64> {
    let weights: Vec<u64> = (0..count).map(|_| draw.random_range(1..=100u64).pow(2)).collect();
    let sum: u64 = weights.iter().sum();
    let whole = if all { whole } else { whole * draw.random_range(50..100u64) / 100 };
    let part = |weight: &u64| (u128::from(whole) * u128::from(*weight) / u128::from(sum)) as u64;
    let mut parts: Vec<u64> = weights.iter().map(|weight| part(weight).max(1)).collect();
    if all {
        let left = whole.saturating_sub(parts.iter().sum());
        parts[0] += left;
    }
    parts
}

/// How long bytes take at a rate, in ns.
pub(super) fn time(bytes: u64, rate: u64) -> u64 {
    (bytes * laxity_adversary::arrival::BYTE).div_ceil(rate)
}

/// A way with best effort, under EDF.
pub(super) fn edf_keys(draw: &mut Generator) -> String {
    let ways =
        ["background", "total-bandwidth", "shifted-line", "two-line", "two-line-fast", "exact"];
    let way = pick(&ways, draw);
    let order = pick(&["wfq", "fifo"], draw);
    let late = if chance(6, draw) { ", late = \"drop\"" } else { "" };
    format!("kind = \"edf\", best-effort = \"{way}\", best-effort-order = \"{order}\"{late}")
}
