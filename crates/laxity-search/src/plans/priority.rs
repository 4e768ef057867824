//! Static priority: a few levels, several classes on some, and a flood behind them.

use rand::RngExt;

use super::parts::{arrival, chance, link, parts};
use crate::Generator;
use crate::draft::{ClassDraft, Draft};

pub(super) fn draw(draw: &mut Generator) -> Draft {
    let mut draft = link("kind = \"priority\"", draw);
    let count = draw.random_range(2..=6usize);
    let levels = draw.random_range(1..=4u32);
    for (name, rate) in parts(draft.rate, count, chance(4, draw), draw).into_iter().enumerate() {
        let arrival = Some(arrival(draft.max_packet, rate, draw));
        let level = Some(draw.random_range(0..levels));
        draft.classes.push(ClassDraft { level, arrival, ..ClassDraft::named(name) });
    }
    // Behind all that have a level.
    if !chance(4, draw) {
        draft.classes.push(ClassDraft::named(count));
    }
    draft
}
