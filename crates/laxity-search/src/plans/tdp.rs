//! Networks of time-driven priority: frames that are reserved, and best effort in what is left.

use rand::RngExt;

use super::parts::{chance, pick};
use crate::Generator;
use crate::draft::{ArrivalDraft, ClassDraft, Draft, LinkDraft, PathDraft};

pub(super) fn draw(draw: &mut Generator) -> Draft {
    let (frame, frames) = (draw.random_range(150_000..400_000u64), draw.random_range(3..20u64));
    let guard = if chance(2, draw) { 0 } else { draw.random_range(20_000..60_000u64) };
    let error = if chance(2, draw) { 0 } else { draw.random_range(1..=(frame - 100_100) / 8) };
    let (spare, cycles) = (draw.random_range(0..3u32), draw.random_range(1..4u64));
    let keys = format!(
        "kind = \"tdp\", frame = \"{frame}ns\", frames = {frames}, cycles = {cycles}, \
         guard = \"{guard}ns\", spare = {spare}, clock-error = \"{error}ns\""
    );
    let mut draft =
        Draft { rate: 100_000_000, max_packet: 1_000, scheduler: keys, ..Draft::default() };
    let nodes = draw.random_range(2..=5u16);
    for from in 0..nodes - 1 {
        draft.links.push(LinkDraft {
            between: [from, from + 1],
            rate: draw.random_range(80..=100u64) * 1_000_000,
            delay: if chance(2, draw) { 0 } else { draw.random_range(0..900_000u64) },
            jitter: 0,
            regulate: false,
            scheduler: String::new(),
        });
    }
    if error > 0 {
        draft.other = clocks(nodes, error, draw);
    }
    let period = frame * frames * cycles;
    for name in 0..draw.random_range(1..=5usize) {
        let reserved = name == 0 || !chance(4, draw);
        draft.classes.push(if reserved {
            class(name, period, draw)
        } else {
            ClassDraft::named(name)
        });
        let from = draw.random_range(0..nodes - 1);
        let to = draw.random_range(from + 1..nodes);
        let path =
            PathDraft { name: name as u16, class: name as u16, nodes: (from..=to).collect() };
        draft.paths.push(path);
    }
    draft
}

/// A class that sends a few packets of one length at once, the same number in each super cycle.
fn class(name: usize, period: u64, draw: &mut Generator) -> ClassDraft {
    let packet = pick(&[64, 200, 500, 1_000], draw);
    let packets = draw.random_range(1..12u64);
    let rate = packet * laxity_adversary::arrival::BYTE * packets / period;
    let bucket = packet * draw.random_range(1..6u64);
    let peak = chance(3, draw).then_some(2 * rate);
    ClassDraft {
        arrival: Some(ArrivalDraft { bucket, rate, packet, shortest: None, peak }),
        end_to_end: Some(1_000_000_000),
        ..ClassDraft::named(name)
    }
}

/// Clocks that are wrong by up to what is borne.
fn clocks(nodes: u16, error: u64, draw: &mut Generator) -> String {
    let clock = |node: u16| {
        let way = pick(&["ahead", "behind"], draw);
        let by = if chance(2, draw) { error } else { draw.random_range(0..=error) };
        format!("\n[node.n{node}]\nclock = {{ {way} = \"{by}ns\" }}\n")
    };
    (0..nodes).map(clock).collect()
}
