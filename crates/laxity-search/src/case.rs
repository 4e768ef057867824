//! One numbered case: a plan is drawn, pushed to the edge and searched.

pub mod broken;
pub mod broken_plan;
mod police;
pub mod save;
pub mod shrink;

use rand::{RngExt, SeedableRng};

use crate::Generator;
use crate::discipline::Discipline;
use crate::draft::Draft;
use crate::edge;
use crate::faults::{Fault, with_fault};
use crate::hill_climb::{self, Budget, SearchResult};
use crate::replay::{self, Replay};
use crate::reservations;
use crate::subject::Subject;
use crate::testbed::Testbed;
use crate::testbed::judge::Violation;
use broken::Broken;
use broken_plan::BrokenPlan;
use laxity_adversary::arrival::{Arrival, FIRST};

/// What came of a case.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Plans that were drawn.
    pub plans: u64,
    /// Those of them that were admitted and searched.
    pub admitted: u64,
    /// How many runs of traffic there were.
    pub runs: u64,
    /// How many packets that were.
    pub packets: u64,
    /// How near a packet came to what is proved of it, or a stream's window; 1 is where it breaks.
    pub closest: f64,
    /// The same of every class of every plan that is promised anything.
    pub by_class: Vec<f64>,
    /// How many plans were broken; of a single case see [`broken`](Self::broken).
    pub counterexamples: u64,
    /// What breaks, if anything.
    pub broken: Option<Broken>,
}

/// The generator of a case: nothing but its discipline, the seed and its number count.
pub fn generator(discipline: Discipline, seed: u64, number: u64) -> Generator {
    let mut draw = Generator::seed_from_u64(seed);
    for name in [discipline.stream(), number] {
        draw = Generator::seed_from_u64(draw.random::<u64>() ^ name);
    }
    draw
}

/// Draws and searches one plan.
pub fn run(
    discipline: Discipline,
    seed: u64,
    number: u64,
    budget: Budget,
    fault: Option<&'static Fault>,
) -> Outcome {
    let mut draw = generator(discipline, seed, number);
    if discipline == Discipline::Reservations {
        return reservations::run(&mut draw, budget, fault.and_then(Fault::of_calls));
    }
    let drawn = Outcome { plans: 1, ..Outcome::default() };
    let Some(draft) = discipline.draw(&mut draw).and_then(edge::loosened) else { return drawn };
    let most_pushed = draw.random_range(0..=MOST_PUSHED);
    Outcome { plans: 1, ..search(draft, most_pushed, budget, &mut draw, fault) }
}

/// Pushes numbers of an admitted draft to the edge, and searches for traffic that breaks the plan.
pub fn search(
    draft: Draft,
    most_pushed: usize,
    budget: Budget,
    draw: &mut Generator,
    fault: Option<&'static Fault>,
) -> Outcome {
    let edge = edge::pushed(draft, most_pushed, draw);
    let Ok(subject) = with_fault(&edge.inside, fault) else { return Outcome::default() };
    let SearchResult { runs, packets, closest, by_class, nearest: (nearest, rogues), broken } =
        hill_climb::search(&subject, budget, draw);
    let rogues = names(&subject, rogues);
    let broken = match broken {
        Some(counterexample) => {
            let rogues = names(&subject, counterexample.rogues);
            let (arrivals, what) = (counterexample.arrivals, counterexample.what);
            let broken = BrokenPlan { draft: edge.inside, arrivals, rogues, what };
            Some(alone(&broken, counterexample.last, fault).unwrap_or(broken))
        }
        None if fault.is_none() && (1..MOST_REPLAYED).contains(&nearest.len()) => {
            let nearest = from_the_start(&subject, &nearest);
            verdict(&subject, &nearest, &rogues)
                .or_else(|| refusal(&edge.outside?, &nearest, &rogues))
                .or_else(|| police::flooded(&edge.inside, &nearest, draw))
        }
        None => None,
    };
    let broken = broken.map(Broken::Plan);
    Outcome { admitted: 1, runs, packets, closest, by_class, broken, ..Outcome::default() }
}

/// The most packets that are run a second time, by Laxity's own simulator.
const MOST_REPLAYED: usize = 400;

/// The most numbers of a plan that are pushed to the edge.
const MOST_PUSHED: usize = 3;

/// Whether the last run alone breaks the same.
fn alone(broken: &BrokenPlan, last: usize, fault: Option<&'static Fault>) -> Option<BrokenPlan> {
    let subject = with_fault(&broken.draft, fault).ok()?;
    let arrivals = from_the_start(&subject, &broken.arrivals[last..]);
    let what = breaks(&subject, &arrivals, &broken.rogues)?;
    what.what.is_like(&broken.what.what).then(|| BrokenPlan { arrivals, what, ..broken.clone() })
}

/// What arrivals break of a subject whose schedulers have no history; nothing if they do not keep
/// to the contracts.
pub fn breaks(subject: &Subject, arrivals: &[Arrival], rogues: &[u16]) -> Option<Violation> {
    let rogues = bits(subject, rogues);
    let conforms = crate::testbed::conforms::conforms(subject, arrivals, rogues);
    if !subject.is_promising() || !conforms {
        return None;
    }
    Testbed::new(subject, rogues).run(arrivals).err()
}

/// The same arrivals, the first of them at the beginning of time or, of streams, at their first
/// gap.
pub fn from_the_start(subject: &Subject, arrivals: &[Arrival]) -> Vec<Arrival> {
    let first = arrivals.first().map_or(0, |arrival| arrival.time);
    let gaps = subject.plan.classes.iter().filter_map(|class| class.gap);
    let step = gaps.map(|gap| gap.0).max().filter(|_| subject.keeps_windows).unwrap_or(1);
    let by = first.saturating_sub(FIRST) / step * step;
    arrivals.iter().map(|arrival| Arrival { time: arrival.time - by, ..*arrival }).collect()
}

/// Whether `run` finds a broken proof, or other delays, where none was found here.
fn verdict(subject: &Subject, arrivals: &[Arrival], rogues: &[u16]) -> Option<BrokenPlan> {
    let draft = &subject.draft;
    let mut testbed = Testbed::new(subject, bits(subject, rogues));
    let what = match testbed.run(arrivals) {
        Err(what) => what,
        Ok(_) => Violation::verdict(match replay::run(draft, arrivals) {
            Err(error) => error,
            Ok(replayed) => disagreement(subject, &replayed, &testbed, rogues)?,
        }),
    };
    let (arrivals, rogues) = (arrivals.to_vec(), rogues.to_vec());
    Some(BrokenPlan { draft: draft.clone(), arrivals, rogues, what })
}

/// What `run` and `check` say that is not what was found here.
fn disagreement(
    subject: &Subject,
    replayed: &Replay,
    testbed: &Testbed,
    rogues: &[u16],
) -> Option<String> {
    if let Some(broken) = replayed.broken.first() {
        return Some(broken.clone());
    }
    if replayed.admitted != subject.admitted {
        return Some(format!("`run` says admitted {:?}", replayed.admitted));
    }
    // Sliding windows are measured, and not proved.
    let is_promised = subject.admitted == Some(true) && !subject.keeps_windows;
    if is_promised && rogues.is_empty() && !replayed.kept {
        return Some("admitted, and not every promise was kept".to_string());
    }
    // In a network packets that come over two links at one instant may take turns in either order.
    let is_link = subject.plan.network.is_none();
    (is_link && replayed.longest != testbed.longest())
        .then(|| format!("delays of {:?} ns, here {:?}", replayed.longest, testbed.longest()))
}

/// Whether a plan a step beyond the edge is refused by `check` and still said to break a proof.
fn refusal(outside: &Draft, arrivals: &[Arrival], rogues: &[u16]) -> Option<BrokenPlan> {
    let subject = with_fault(outside, None).ok()?;
    let proves_nothing =
        subject.outputs.iter().all(|output| output.bounds.iter().all(Option::is_none));
    if !proves_nothing {
        return None;
    }
    let what = replay::run(outside, arrivals).ok()?.broken.first()?.clone();
    let what = Violation::verdict(what);
    let (arrivals, rogues) = (arrivals.to_vec(), rogues.to_vec());
    Some(BrokenPlan { draft: outside.clone(), arrivals, rogues, what })
}

/// The names of the feeds of classes that are given as bits.
fn names(subject: &Subject, rogues: u64) -> Vec<u16> {
    let is_rogue = |name: &u16| {
        subject.feed(*name).is_some_and(|feed| feed.class < 64 && rogues >> feed.class & 1 == 1)
    };
    subject.names().into_iter().filter(is_rogue).collect()
}

/// The classes of the feeds of these names, a bit each.
fn bits(subject: &Subject, names: &[u16]) -> u64 {
    let classes = names.iter().filter_map(|name| subject.feed(*name));
    classes.fold(0, |bits, feed| bits | 1 << feed.class)
}
