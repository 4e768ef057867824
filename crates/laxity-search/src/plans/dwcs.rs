//! Streams with windows under DWCS.

use rand::RngExt;

use super::parts::{chance, link, time};
use crate::Generator;
use crate::draft::{ArrivalDraft, ClassDraft, Draft, StreamsDraft};

pub(super) fn draw(draw: &mut Generator) -> Draft {
    let violation = if chance(2, draw) { "reset" } else { "favour" };
    let keys =
        format!("kind = \"dwcs\", precedence = \"deadline-first\", violation = \"{violation}\"");
    let mut draft = link(&keys, draw);
    let services = draw.random_range(1..=12u64);
    let same = chance(2, draw);
    let packet = draft.max_packet;
    let gap = time(services * packet, draft.rate) + draw.random_range(0..time(packet, draft.rate));
    for name in 0..draw.random_range(1..=4usize) {
        let of = draw.random_range(1..=12u64);
        let lost = draw.random_range(0..=of);
        let streams = StreamsDraft { count: draw.random_range(1..=6u64), gap, lost, of };
        let packet = if same { packet } else { draw.random_range(40..=packet) };
        let rate = draft.rate;
        let whole = ArrivalDraft { bucket: packet, rate, packet, shortest: None, peak: None };
        let (streams, arrival) = (Some(streams), (!same).then_some(whole));
        draft.classes.push(ClassDraft { streams, arrival, ..ClassDraft::named(name) });
    }
    if chance(2, draw) {
        draft.classes.push(ClassDraft::named(draft.classes.len()));
    }
    draft
}
