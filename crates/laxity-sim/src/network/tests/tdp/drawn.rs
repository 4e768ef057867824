//! Networks that are drawn at random.

use std::collections::BTreeSet;
use std::fmt::Write;

use laxity::units::Nanos;
use proptest::collection::vec;
use proptest::prelude::*;

/// A network with reserved flows and floods of best effort.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    pub frame: u64,
    pub frames: u64,
    pub cycles: u64,
    pub guard: u64,
    pub spare: u32,
    pub clock_error: Option<u64>,
    pub nodes: Vec<DrawnNode>,
    /// More links, between these nodes, for rings and meshes.
    pub chords: Vec<(usize, usize, DrawnLink)>,
    pub flows: Vec<DrawnFlow>,
    pub floods: Vec<(Walk, u64)>,
}

/// A node but the first has a link to one before it.
#[derive(Clone, Debug)]
pub(super) struct DrawnNode {
    pub parent: usize,
    pub link: DrawnLink,
    /// How its clock is wrong, as shares of the error that there may be: what it shows once set,
    /// what it shows before it is set, and how many frames lie in between.
    pub clock: (i64, i64, u64),
}

#[derive(Clone, Debug)]
pub(super) struct DrawnLink {
    pub delay: u64,
    pub megabits: u64,
    pub private: bool,
}

/// Which way to go at every node.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    pub from: usize,
    pub turns: Vec<usize>,
    pub laps: u64,
}

#[derive(Clone, Debug)]
pub(super) struct DrawnFlow {
    pub walk: Walk,
    pub length: u64,
    /// How many packets it has in each super cycle.
    pub packets: u64,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Streams with a gap.
    Streams(u64),
    /// Bursts of packets, at once or at twice the rate.
    Bursts(u64, bool),
    /// A constant rate with jitter, in hundredths of the time between packets.
    Jitter(u64),
}

impl Drawn {
    fn links(&self) -> Vec<(usize, usize, &DrawnLink)> {
        let mut joined = BTreeSet::new();
        let tree = (1..).zip(&self.nodes[1..]);
        let tree = tree.map(|(node, drawn)| (drawn.parent % node, node, &drawn.link));
        let count = self.nodes.len();
        let chords = self.chords.iter().map(|(a, b, link)| {
            let (a, b) = (a % count, b % count);
            (a.min(b), a.max(b), link)
        });
        tree.chain(chords).filter(|&(a, b, _)| a != b && joined.insert((a, b))).collect()
    }

    fn path(&self, walk: &Walk) -> String {
        let links = self.links();
        let mut at = walk.from % self.nodes.len();
        let mut path = vec![format!("n{at}")];
        for turn in &walk.turns {
            let ways: Vec<_> = links.iter().filter(|(a, b, _)| *a == at || *b == at).collect();
            let (a, b, _) = ways[turn % ways.len()];
            at = if *a == at { *b } else { *a };
            path.push(format!("n{at}"));
        }
        let laps = if path[0] == path[path.len() - 1] { walk.laps } else { 1 };
        format!("path = {path:?}\nlaps = {laps}").replace("\nlaps = 1", "")
    }

    /// The duration of cycles, and of a packet over the farthest link.
    pub(super) fn duration(&self, cycles: u64) -> Nanos {
        let farthest = self.links().iter().map(|(.., link)| link.delay).max().unwrap_or_default();
        Nanos(cycles * self.frame * self.frames + farthest)
    }

    pub(super) fn text(&self) -> String {
        let Drawn { frame, frames, cycles, guard, spare, .. } = self;
        let mut text = String::from(
            "link = { rate = \"100mbit\", max-packet = \"1000b\", min-packet = \"64b\" }\n",
        );
        writeln!(text, "[scheduler]\nkind = \"tdp\"\nframe = \"{frame}ns\"\nframes = {frames}")
            .unwrap();
        writeln!(text, "cycles = {cycles}\nguard = \"{guard}ns\"").unwrap();
        if *spare > 0 {
            writeln!(text, "spare = {spare}").unwrap();
        }
        if let Some(error) = self.clock_error {
            writeln!(text, "clock-error = \"{error}ns\"").unwrap();
            for (number, node) in self.nodes.iter().enumerate() {
                let (set, before, sync) = node.clock;
                let [set, before] = [set, before].map(|share| share * error as i64 / 1_000);
                let sync = sync * frame;
                // As much drift as brings it there, rounded to thousandths of a millionth.
                let drift = ((before - set) as f64 * 1e9 / sync as f64).trunc() / 1e3;
                let offset = if set < 0 { "behind" } else { "ahead" };
                writeln!(text, "[node.n{number}]\nclock = {{ {offset} = \"{}ns\", drift = {drift:.3}, sync = \"{sync}ns\" }}", set.abs()).unwrap();
            }
        }
        for (a, b, DrawnLink { delay, megabits, private }) in self.links() {
            writeln!(text, "[network.l{a}-{b}]\nbetween = [\"n{a}\", \"n{b}\"]").unwrap();
            writeln!(text, "delay = \"{delay}ns\"\nrate = \"{megabits}mbit\"").unwrap();
            writeln!(text, "private = {private}").unwrap();
        }
        for (number, flow) in self.flows.iter().enumerate() {
            self.flow(&mut text, number, flow);
        }
        for (number, (walk, megabits)) in self.floods.iter().enumerate() {
            writeln!(text, "[class.be{number}]\n[[source]]\nclass = \"be{number}\"").unwrap();
            writeln!(text, "model = \"poisson\"\nrate = \"{megabits}mbit\"").unwrap();
            writeln!(text, "packet = {{ uniform = [\"64b\", \"1000b\"] }}").unwrap();
            writeln!(text, "{}", self.path(walk)).unwrap();
        }
        text
    }

    fn flow(&self, text: &mut String, number: usize, flow: &DrawnFlow) {
        let DrawnFlow { walk, length, packets, kind } = flow;
        let period = self.frame * self.frames * self.cycles;
        let length = if matches!(kind, Kind::Streams(_)) { 1000 } else { *length };
        let rate = length * 8_000_000_000 * packets / period;
        let gap = (length * 8_000_000_000).div_ceil(rate);
        writeln!(text, "[class.c{number}]").unwrap();
        let bucket = match kind {
            Kind::Streams(_) => 0,
            Kind::Bursts(packets, _) => packets * length,
            Kind::Jitter(_) => 2 * length,
        };
        match kind {
            Kind::Streams(count) => writeln!(text, "gap = \"{}ns\"\ncount = {count}", gap - 1),
            _ => {
                let is_slower = matches!(kind, Kind::Bursts(_, true));
                let peak = if is_slower { format!(", peak = \"{}bit\"", 2 * rate) } else { String::new() };
                writeln!(
                    text,
                    "arrival = {{ bucket = \"{bucket}b\", rate = \"{rate}bit\", packet = \"{length}b\"{peak} }}\n\
                     end-to-end = \"1s\""
                )
            }
        }
        .unwrap();
        writeln!(text, "[[source]]\nclass = \"c{number}\"\npacket = \"{length}b\"").unwrap();
        writeln!(text, "{}", self.path(walk)).unwrap();
        match kind {
            Kind::Streams(_) => {
                writeln!(text, "model = \"constant\"\nrate = \"{rate}bit\"\nstagger = \"{gap}ns\"")
            }
            Kind::Bursts(..) => writeln!(
                text,
                "model = \"greedy\"\nburst = {{ uniform = [\"0ns\", \"{period}ns\"] }}\n\
                 spacing = {{ uniform = [\"1ns\", \"{period}ns\"] }}"
            ),
            Kind::Jitter(share) => writeln!(
                text,
                "model = \"constant\"\nrate = \"{rate}bit\"\nstagger = \"{gap}ns\"\n\
                 jitter = {{ uniform = [\"0ns\", \"{}ns\"] }}",
                gap * share / 100
            ),
        }
        .unwrap();
    }
}

fn link() -> impl Strategy<Value = DrawnLink> {
    let delay = prop_oneof![2 => Just(0u64), 4 => 0..900_000u64, 1 => 0..12_000_000u64];
    (delay, 20..100u64, prop::bool::weighted(0.1))
        .prop_map(|(delay, megabits, private)| DrawnLink { delay, megabits, private })
}

fn walk(longest: usize) -> impl Strategy<Value = Walk> {
    (0..9usize, vec(0..60usize, 1..=longest), 1..4u64).prop_map(|(from, turns, laps)| Walk {
        from,
        turns,
        laps,
    })
}

fn node() -> impl Strategy<Value = DrawnNode> {
    let parent = prop_oneof![2 => 0..60usize, 1 => Just(59)];
    let ends = prop_oneof![2 => -1_000..=1_000i64, 1 => Just(1_000), 1 => Just(-1_000)];
    let clock = (ends.clone(), ends, 50..200u64);
    (parent, link(), clock).prop_map(|(parent, link, clock)| DrawnNode { parent, link, clock })
}

fn flow() -> impl Strategy<Value = DrawnFlow> {
    let kind = prop_oneof![
        (1..3u64).prop_map(Kind::Streams),
        (1..6u64, any::<bool>()).prop_map(|(packets, peak)| Kind::Bursts(packets, peak)),
        (0..100u64).prop_map(Kind::Jitter),
    ];
    (walk(6), 64..1_000u64, 1..12u64, kind).prop_map(|(walk, length, packets, kind)| DrawnFlow {
        walk,
        length,
        packets,
        kind,
    })
}

/// Networks whose clocks are wrong by up to a part of what frames bear.
pub(super) fn drawn_with_clocks() -> impl Strategy<Value = Drawn> {
    (drawn(), 1..=100u64).prop_map(|(mut drawn, share)| {
        // Links that are fast enough for frames that bear more than nothing.
        let chords = drawn.chords.iter_mut().map(|(.., link)| link);
        for link in drawn.nodes.iter_mut().map(|node| &mut node.link).chain(chords) {
            link.megabits = 80 + link.megabits / 5;
        }
        drawn.clock_error = Some((drawn.frame - 100_100) / 4 * share / 100);
        drawn
    })
}

/// Networks of perfect clocks.
pub(super) fn drawn() -> impl Strategy<Value = Drawn> {
    let time = (150_000..400_000u64, 3..20u64, 1..4u64, 0..60_000u64, 0..3u32);
    let chord = (0..60usize, 0..60usize, link());
    let network = (vec(node(), 2..7), vec(chord, 0..6));
    let traffic = (vec(flow(), 1..8), vec((walk(4), 5..120u64), 0..4));
    (time, network, traffic).prop_map(
        |((frame, frames, cycles, guard, spare), (nodes, chords), (flows, floods))| Drawn {
            frame,
            frames,
            cycles,
            guard: if guard < 20_000 { 0 } else { guard },
            spare,
            clock_error: None,
            nodes,
            chords,
            flows,
            floods,
        },
    )
}
