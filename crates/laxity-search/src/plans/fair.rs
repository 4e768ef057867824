//! Links that are shared by weight: WFQ, DRR and QFQ+ on one level, WF2Q+ on any.

use rand::RngExt;

use super::parts::{arrival, chance, link, parts};
use crate::Generator;
use crate::draft::{ClassDraft, CurveDraft, Draft};

/// One level, by weights of any ratio.
pub(super) fn flat(kind: &str, draw: &mut Generator) -> Draft {
    let mut draft = link(&format!("kind = \"{kind}\""), draw);
    let count = draw.random_range(2..=6usize);
    let weights: Vec<u64> = (0..count)
        .map(|_| draw.random_range(1..=40u64) * if chance(4, draw) { 1_000_000 } else { 100_000 })
        .collect();
    let sum: u64 = weights.iter().sum();
    for (name, weight) in weights.into_iter().enumerate() {
        let share = (u128::from(draft.rate) * u128::from(weight) / u128::from(sum)) as u64;
        let has_arrival = name == 0 || !chance(3, draw);
        let arrival = has_arrival.then(|| arrival(draft.max_packet, share, draw));
        let weight = Some(weight);
        draft.classes.push(ClassDraft { weight, arrival, ..ClassDraft::named(name) });
    }
    draft
}

/// A hierarchy of up to four levels whose rates make up all or most of those above.
pub(super) fn wf2q(draw: &mut Generator) -> Draft {
    let mut draft = link("kind = \"wf2q\"", draw);
    let levels = draw.random_range(1..=4u32);
    below(&mut draft, None, levels, draw);
    draft
}

fn below(draft: &mut Draft, above: Option<(u16, u64)>, levels: u32, draw: &mut Generator) {
    let whole = above.map_or(draft.rate, |(_, rate)| rate);
    let count = draw.random_range(2..=if levels > 1 { 3 } else { 4usize });
    for rate in parts(whole, count, !chance(3, draw), draw) {
        let name = draft.classes.len();
        let is_leaf = levels == 1 || chance(2, draw);
        let has_arrival = is_leaf && !chance(4, draw);
        let arrival = has_arrival.then(|| arrival(draft.max_packet, rate, draw));
        draft.classes.push(ClassDraft {
            parent: above.map(|(name, _)| name),
            link_share: Some(CurveDraft::line(rate)),
            arrival,
            ..ClassDraft::named(name)
        });
        if !is_leaf && draft.classes.len() < 12 {
            below(draft, Some((name as u16, rate)), levels - 1, draw);
        }
    }
}
