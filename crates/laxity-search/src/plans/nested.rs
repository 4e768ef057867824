//! Schedulers below shares: EDF with best effort inside, FIFO, and others.

use rand::RngExt;

use super::edf;
use super::parts::{arrival, chance, edf_keys, link, parts};
use crate::Generator;
use crate::draft::{ClassDraft, CurveDraft, Draft};

pub(crate) fn draw(draw: &mut Generator) -> Draft {
    let mut draft = link("kind = \"wf2q\"", draw);
    // What a share promises is most of its rate's time, so rates are not too low for a packet.
    let levels = draw.random_range(1..=2u32);
    below(&mut draft, None, levels, draw);
    draft
}

fn below(draft: &mut Draft, above: Option<(u16, u64)>, levels: u32, draw: &mut Generator) {
    let whole = above.map_or(draft.rate, |(_, rate)| rate);
    let count = draw.random_range(1..=3usize) + usize::from(levels == 1);
    for rate in parts(whole, count, true, draw) {
        let name = draft.classes.len() as u16;
        draft.classes.push(ClassDraft {
            parent: above.map(|(name, _)| name),
            link_share: Some(CurveDraft::line(rate)),
            ..ClassDraft::named(usize::from(name))
        });
        let at = draft.classes.len() - 1;
        let max_packet = if chance(2, draw) { draft.max_packet } else { 200 };
        match draw.random_range(0..6u32) {
            0 if levels > 1 && draft.classes.len() < 8 => {
                below(draft, Some((name, rate)), levels - 1, draw);
            }
            0..=3 => {
                draft.classes[at].inside = Some(edf_keys(draw));
                edf::classes(draft, Some(name), rate, max_packet, draw);
            }
            4 => {
                draft.classes[at].inside = Some("kind = \"fifo\"".to_string());
                for most in parts(rate, 2, chance(2, draw), draw) {
                    let arrival = Some(arrival(max_packet, most, draw));
                    let parent = Some(name);
                    let class = ClassDraft::named(draft.classes.len());
                    draft.classes.push(ClassDraft { parent, arrival, ..class });
                }
            }
            _ => {
                let has_arrival = chance(2, draw);
                draft.classes[at].arrival =
                    has_arrival.then(|| arrival(draft.max_packet, rate, draw));
            }
        }
    }
    // Someone holds a scheduler, or it is no hierarchy of them.
    if above.is_none() && draft.classes.iter().all(|class| class.inside.is_none()) {
        let leaf = draft.classes.len() - 1;
        draft.classes[leaf].inside = Some("kind = \"fifo\"".to_string());
    }
}
