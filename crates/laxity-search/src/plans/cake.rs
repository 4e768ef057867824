//! CAKE: classes in tins of a few code points, and a flood in a tin without a promise.

use rand::RngExt;

use super::parts::{arrival, chance, link, parts, pick};
use crate::Generator;
use crate::draft::{ClassDraft, Draft};

/// CS1, CS0, AF11, CS2, AF21, AF41, EF, CS6: among them is one of every tin under every mode.
const POINTS: [u64; 8] = [8, 0, 10, 16, 18, 34, 46, 48];

pub(super) fn draw(draw: &mut Generator) -> Draft {
    let modes = ["besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence"];
    let mode = pick(&modes, draw);
    let isolation = pick(&["flows", "flowblind"], draw);
    // COBALT is to drop nothing: its times are not those of bounds.
    let keys = format!(
        "kind = \"cake\", diffserv = \"{mode}\", isolation = \"{isolation}\", rtt = \"1000s\""
    );
    let mut draft = link(&keys, draw);
    let count = draw.random_range(1..=5usize);
    // No tin is sure of more than the rate, and few of more than a quarter.
    let most = draft.rate / if chance(2, draw) { 1 } else { 4 };
    let points = if chance(2, draw) { &POINTS[..1] } else { &POINTS };
    for (name, rate) in parts(most, count, chance(4, draw), draw).into_iter().enumerate() {
        let arrival = Some(arrival(draft.max_packet, rate, draw));
        let dscp = Some(pick(points, draw));
        draft.classes.push(ClassDraft { dscp, arrival, ..ClassDraft::named(name) });
    }
    if !chance(4, draw) {
        let dscp = Some(pick(points, draw));
        draft.classes.push(ClassDraft { dscp, ..ClassDraft::named(count) });
    }
    draft
}
