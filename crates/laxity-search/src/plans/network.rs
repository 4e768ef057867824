//! Networks of links under different disciplines, with paths that meet and part.

use laxity_plan::discipline::Kind;
use rand::RngExt;

use super::parts::{arrival, chance, edf_keys, link, pick, time};
use crate::Generator;
use crate::draft::{ClassDraft, CurveDraft, Draft, LinkDraft, PathDraft};

pub(crate) fn draw(draw: &mut Generator) -> Draft {
    let mut draft = link("kind = \"fifo\"", draw);
    let nodes = draw.random_range(2..=4u16);
    // Some networks go by deadlines everywhere, with best effort that is free beside, and some are
    // first come, first served.
    let discipline = pick(&[Discipline::Deadlines, Discipline::Fifo, Discipline::Mixed], draw);
    let by_deadlines = discipline == Discipline::Deadlines;
    let is_regulated = chance(3, draw);
    let has_jitter = chance(3, draw);
    // Links lead from each node to the next, some also to the one after.
    for from in 0..nodes {
        for to in [from + 1, from + 2] {
            if to <= nodes && (to == from + 1 || chance(3, draw)) {
                draft.links.push(link_between([from, to], draft.rate, discipline, draw));
            }
        }
    }
    // Some networks are rings, in which outputs feed one another.
    let joined = |link: &LinkDraft| link.between == [0, nodes];
    if chance(4, draw) && !draft.links.iter().any(joined) {
        draft.links.push(link_between([nodes, 0], draft.rate, discipline, draw));
    }
    for link in draft.links.iter_mut().filter(|_| is_regulated) {
        link.regulate = chance(2, draw);
    }
    for link in draft.links.iter_mut().filter(|_| has_jitter) {
        link.jitter = if chance(2, draw) { draw.random_range(1..4_000_000u64) } else { 0 };
    }
    let classes = draw.random_range(1..=4usize);
    for name in 0..classes {
        let mut class = class(name, classes, &draft, draw);
        if by_deadlines && name > 0 && name + 1 == classes {
            class = ClassDraft::named(name);
        }
        draft.classes.push(class);
        for _ in 0..draw.random_range(1..=2u32) {
            let nodes = way(&draft, nodes, draw);
            let path = PathDraft { name: draft.paths.len() as u16, class: name as u16, nodes };
            if !draft.paths.iter().any(|one| (one.class, &one.nodes) == (path.class, &path.nodes)) {
                draft.paths.push(path);
            }
        }
    }
    if chance(2, draw) {
        with_one_deadline(&mut draft, by_deadlines && chance(2, draw));
    }
    without_strange_keys(&mut draft);
    draft
}

/// All deadlines are the longest one, so that classes share queues; in some networks best effort
/// has none.
fn with_one_deadline(draft: &mut Draft, in_background: bool) {
    let longest = draft.classes.iter().filter_map(|class| class.deadline).max();
    for class in &mut draft.classes {
        class.deadline = class.deadline.and(longest);
    }
    for link in draft.links.iter_mut().filter(|_| in_background) {
        link.scheduler = "kind = \"edf\", best-effort = \"background\"".to_string();
    }
}

/// Takes out the keys of classes that mean nothing to any link.
fn without_strange_keys(draft: &mut Draft) {
    let schedulers = draft.links.iter().map(|link| &link.scheduler).chain([&draft.scheduler]);
    let kinds: Vec<Kind> = schedulers.filter_map(|keys| kind_of(keys)).collect();
    let takes = |key: &str| kinds.iter().any(|kind| kind.room().takes_of_classes(key));
    let (weights, curves) = (takes("weight"), takes("curve"));
    for class in &mut draft.classes {
        class.weight = class.weight.filter(|_| weights);
        class.curve = class.curve.filter(|_| curves);
    }
}

/// The discipline of the keys of a scheduler.
fn kind_of(keys: &str) -> Option<Kind> {
    Kind::named(keys.split('"').nth(1)?).ok()
}

/// What all links of a network have.
#[derive(Clone, Copy, PartialEq)]
enum Discipline {
    Deadlines,
    Fifo,
    Mixed,
}

fn link_between(
    between: [u16; 2],
    rate: u64,
    discipline: Discipline,
    draw: &mut Generator,
) -> LinkDraft {
    let rate = rate * draw.random_range(50..=150u64) / 100;
    let delay = if chance(2, draw) { 0 } else { draw.random_range(0..3_000_000u64) };
    let scheduler = match discipline {
        Discipline::Deadlines => edf_keys(draw),
        Discipline::Fifo => "kind = \"fifo\"".to_string(),
        Discipline::Mixed => scheduler(draw),
    };
    LinkDraft { between, rate, delay, jitter: 0, regulate: false, scheduler }
}

fn scheduler(draw: &mut Generator) -> String {
    match draw.random_range(0..8u32) {
        0 | 1 => "kind = \"fifo\"".to_string(),
        2 => edf_keys(draw),
        3 => cake(),
        _ => match pick(&others(), draw) {
            Kind::Cake => cake(),
            kind => format!("kind = \"{}\"", kind.word()),
        },
    }
}

/// CAKE, in which classes take turns. COBALT is to drop nothing: its times are not those of bounds.
fn cake() -> String {
    "kind = \"cake\", rtt = \"1000s\"".to_string()
}

/// The other disciplines that bound delays at a link.
fn others() -> Vec<Kind> {
    // The first two are drawn more often than the others, and the windows of DWCS are those of a
    // link.
    let is_left_out = |kind: &Kind| matches!(kind, Kind::Fifo | Kind::Edf | Kind::Dwcs);
    let promises = |kind: &Kind| super::drawing(*kind).is_some() && !kind.room().is_of_networks;
    let others = Kind::ALL.iter().filter(|kind| promises(kind) && !is_left_out(kind));
    others.copied().collect()
}

fn class(name: usize, count: usize, draft: &Draft, draw: &mut Generator) -> ClassDraft {
    let share = draft.rate / 2 / count as u64;
    let has_arrival = name == 0 || !chance(4, draw);
    let mut arrival = has_arrival.then(|| arrival(draft.max_packet, share, draw));
    if let Some(arrival) = &mut arrival {
        arrival.shortest = shortest(arrival.packet, draw);
    }
    let bucket = arrival.map_or(draft.max_packet, |arrival| arrival.bucket);
    let late = time((bucket + draft.max_packet) * count as u64, draft.rate / 2);
    let due = has_arrival && !chance(3, draw);
    let whole = due && chance(2, draw);
    let curve = chance(2, draw).then(|| CurveDraft::line(share));
    ClassDraft {
        arrival,
        deadline: due.then(|| late * draw.random_range(2..6u64)),
        end_to_end: whole.then(|| late * draw.random_range(5..20u64)),
        curve,
        weight: (curve.is_none()).then(|| draw.random_range(1..=40u64) * 100_000),
        ..ClassDraft::named(name)
    }
}

/// The shortest packet of a class, on which depends how much closer its packets come together on
/// their way.
fn shortest(longest: u64, draw: &mut Generator) -> Option<u64> {
    match draw.random_range(0..3u32) {
        0 => None,
        1 => Some(longest),
        _ => Some(draw.random_range(longest.min(40)..=longest)),
    }
}

/// The most links of a way, which may go around a ring more than once.
const LONGEST: usize = 7;

/// A way along links, from any node on.
fn way(draft: &Draft, nodes: u16, draw: &mut Generator) -> Vec<u16> {
    let mut way = vec![draw.random_range(0..nodes)];
    loop {
        let at = way[way.len() - 1];
        let next: Vec<_> =
            draft.links.iter().map(|link| link.between).filter(|[from, _]| *from == at).collect();
        if next.is_empty() || way.len() > 1 && chance(4, draw) || way.len() > LONGEST {
            return way;
        }
        way.push(pick(&next, draw)[1]);
    }
}
