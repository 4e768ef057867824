//! Who breaks a contract beside those who keep theirs: floods of packets too many, too long and too
//! short, in policed classes, under Laxity's own simulator.

use rand::RngExt;

use crate::Generator;
use crate::case::broken_plan::BrokenPlan;
use crate::draft::{Draft, Police};
use crate::replay::{self, Replay};
use crate::testbed::judge::Violation;
use laxity_adversary::arrival::Arrival;

/// How many packets a flood has.
const FLOOD: u64 = 200;

/// Polices every class that has a contract, floods one of them beside arrivals that keep to theirs,
/// and tells what breaks. Streams are counted and not policed.
pub(crate) fn flooded(
    draft: &Draft,
    arrivals: &[Arrival],
    draw: &mut Generator,
) -> Option<BrokenPlan> {
    let mut draft = draft.clone();
    let police = Police { demotes: draw.random(), has_queue: draw.random() };
    for class in draft.classes.iter_mut().filter(|class| class.arrival.is_some()) {
        class.police = Some(police);
    }
    let feeds = feeds(&draft);
    let rogue = *feeds.get(draw.random_range(0..feeds.len().max(1)))?;
    let arrivals = with_flood(&draft, arrivals, rogue, draw);
    let replayed = replay::run(&draft, &arrivals).ok()?;
    let what = Violation::verdict(broken(&replayed)?);
    Some(BrokenPlan { draft, arrivals, rogues: vec![rogue], what })
}

/// The names of feeds of policed classes without streams: of classes, or of paths in a network.
fn feeds(draft: &Draft) -> Vec<u16> {
    let is_policed = |name: u16| {
        let is_parent = draft.classes.iter().any(|class| class.parent == Some(name));
        let class = draft.class(name).filter(|class| class.streams.is_none());
        class.is_some_and(|class| class.police.is_some()) && !is_parent
    };
    if draft.links.is_empty() {
        draft.classes.iter().map(|class| class.name).filter(|it| is_policed(*it)).collect()
    } else {
        let policed = draft.paths.iter().filter(|path| is_policed(path.class));
        policed.map(|path| path.name).collect()
    }
}

/// Bursts of one feed among the arrivals of all, in order of time.
fn with_flood(
    draft: &Draft,
    arrivals: &[Arrival],
    feed: u16,
    draw: &mut Generator,
) -> Vec<Arrival> {
    let last = arrivals.last().map_or(1, |arrival| arrival.time);
    let mut all = arrivals.to_vec();
    let mut time = draw.random_range(1..=last);
    for _ in 0..FLOOD {
        if draw.random_ratio(1, 20) {
            time = draw.random_range(1..=last);
        }
        let most = draft.max_packet as u32;
        let length = match draw.random_range(0..3) {
            0 => draw.random_range(1..=most.min(40)),
            1 => most,
            _ => draw.random_range(1..=most),
        };
        all.push(Arrival { time, feed, flow: 0, length });
    }
    all.sort_by_key(|arrival| arrival.time);
    all
}

/// What is proved and does not hold, or is promised and not kept. A plan that is not admitted may
/// have been before there were queues.
fn broken(replayed: &Replay) -> Option<String> {
    let is_promised = replayed.admitted == Some(true);
    let broken = replayed.broken.first().filter(|_| replayed.admitted != Some(false)).cloned();
    broken.or_else(|| (is_promised && !replayed.kept).then(|| "a promise was not kept".into()))
}
