//! A link under EDF, with all ways of serving best effort and all orders of it.

use rand::RngExt;

use super::parts::{arrival, chance, edf_keys, link, parts, time};
use crate::Generator;
use crate::draft::{ClassDraft, Draft};

pub(super) fn draw(draw: &mut Generator) -> Draft {
    let mut draft = link(&edf_keys(draw), draw);
    let (rate, max_packet) = (draft.rate, draft.max_packet);
    classes(&mut draft, None, rate, max_packet, draw);
    draft
}

/// Classes with deadlines and best effort that share a rate by EDF.
pub(super) fn classes(
    draft: &mut Draft,
    parent: Option<u16>,
    rate: u64,
    max_packet: u64,
    draw: &mut Generator,
) {
    let count = draw.random_range(1..=4usize);
    for most in parts(rate, count, chance(3, draw), draw) {
        let arrival = arrival(max_packet, most, draw);
        let burst = time(arrival.bucket + max_packet, rate);
        let deadline = burst * draw.random_range(80..600u64) / 100;
        draft.classes.push(ClassDraft {
            parent,
            deadline: Some(deadline),
            arrival: Some(arrival),
            ..ClassDraft::named(draft.classes.len())
        });
    }
    for _ in 0..draw.random_range(0..=2u32) {
        let arrival = chance(2, draw).then(|| arrival(max_packet, rate, draw));
        draft.classes.push(ClassDraft {
            parent,
            arrival,
            weight: Some(draw.random_range(1..=40u64) * 100_000),
            ..ClassDraft::named(draft.classes.len())
        });
    }
}
