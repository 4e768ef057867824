//! Hierarchies under H-FSC: concave and convex curves, together and apart, with and without
//! ceilings.

use rand::RngExt;

use super::parts::{arrival, chance, link, parts, pick};
use crate::Generator;
use crate::draft::{ClassDraft, CurveDraft, Draft};

pub(super) fn draw(draw: &mut Generator) -> Draft {
    let mut draft = link("kind = \"hfsc\"", draw);
    let levels = pick(&[1, 1, 2, 3, 4], draw);
    let limited = chance(4, draw);
    below(&mut draft, None, levels, limited, draw);
    draft
}

fn below(
    draft: &mut Draft,
    above: Option<(u16, u64)>,
    levels: u32,
    limited: bool,
    draw: &mut Generator,
) {
    let whole = above.map_or(draft.rate, |(_, rate)| rate);
    let count = draw.random_range(2..=if levels > 1 { 3 } else { 4usize });
    for rate in parts(whole, count, chance(2, draw), draw) {
        let name = draft.classes.len();
        let is_leaf = levels == 1 || chance(2, draw) || draft.classes.len() > 8;
        let mut class =
            ClassDraft { parent: above.map(|(name, _)| name), ..ClassDraft::named(name) };
        if is_leaf {
            leaf(&mut class, draft, rate, draw);
        } else if chance(2, draw) {
            class.link_share = Some(curve(rate, draft.rate, draw));
        } else {
            class.link_share = Some(CurveDraft::line(rate));
        }
        let has_share = class.link_share.is_some() || class.curve.is_some();
        if limited && has_share && chance(2, draw) {
            class.upper_limit = Some(rate * draw.random_range(100..300u64) / 100);
        }
        draft.classes.push(class);
        if !is_leaf {
            below(draft, Some((name as u16, rate)), levels - 1, limited, draw);
        }
    }
}

fn leaf(class: &mut ClassDraft, draft: &Draft, rate: u64, draw: &mut Generator) {
    let has_arrival = class.name == 0 || !chance(4, draw);
    class.arrival = has_arrival.then(|| arrival(draft.max_packet, rate, draw));
    let curve = curve(rate, draft.rate, draw);
    match draw.random_range(0..5u32) {
        0 => class.real_time = Some(curve),
        1 => {
            class.real_time = Some(curve);
            class.link_share = Some(CurveDraft::line(rate));
        }
        2 if class.name > 0 => class.link_share = Some(curve),
        _ => class.curve = Some(curve),
    }
}

/// A curve of some long-run rate: a line, a burst early, or nothing at first.
fn curve(rate: u64, link: u64, draw: &mut Generator) -> CurveDraft {
    let m2 = (rate * draw.random_range(50..=100u64) / 100).max(1);
    let most = 1u64 << draw.random_range(10..26u32);
    let d = draw.random_range(1..=most);
    match draw.random_range(0..4u32) {
        0 => CurveDraft::line(m2),
        1 => CurveDraft { m1: 0, d, m2 },
        _ => CurveDraft { m1: draw.random_range(m2..=link.max(m2)), d, m2 },
    }
}
