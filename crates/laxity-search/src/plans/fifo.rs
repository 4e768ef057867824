//! First come, first served.

use rand::RngExt;

use super::parts::{arrival, chance, link, parts};
use crate::Generator;
use crate::draft::{ClassDraft, Draft};

/// Classes whose contracts fill the link, or nearly.
pub(super) fn draw(draw: &mut Generator) -> Draft {
    let mut draft = link("kind = \"fifo\"", draw);
    let count = draw.random_range(2..=5usize);
    for (name, most) in parts(draft.rate, count, chance(4, draw), draw).into_iter().enumerate() {
        let arrival = Some(arrival(draft.max_packet, most, draw));
        draft.classes.push(ClassDraft { arrival, ..ClassDraft::named(name) });
    }
    draft
}
