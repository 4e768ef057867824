//! To the edge of admission: what a plan asks for is raised until the next nanosecond, byte or bit
//! a second would be refused.

use rand::RngExt;
use rand::seq::SliceRandom;

use crate::Generator;
use crate::draft::{ClassDraft, CurveDraft, Draft};
use crate::subject::Subject;

/// A number of a class that can be moved to where the plan is refused.
struct Knob {
    /// Whether less of it asks for more.
    is_shorter_harder: bool,
    value: fn(&mut ClassDraft) -> Option<&mut u64>,
}

const fn knob(is_shorter_harder: bool, value: fn(&mut ClassDraft) -> Option<&mut u64>) -> Knob {
    Knob { is_shorter_harder, value }
}

/// The deadline is the first one.
const KNOBS: [Knob; 10] = [
    knob(true, |class| class.deadline.as_mut()),
    knob(true, |class| class.end_to_end.as_mut()),
    knob(false, |class| Some(&mut class.arrival.as_mut()?.bucket)),
    knob(false, |class| Some(&mut class.arrival.as_mut()?.rate)),
    knob(true, |class| Some(&mut own_curve(class)?.d)),
    knob(false, |class| Some(&mut own_curve(class)?.m1)),
    knob(false, |class| Some(&mut own_curve(class)?.m2)),
    knob(false, |class| Some(&mut class.link_share.as_mut()?.m2)),
    knob(true, |class| Some(&mut class.streams.as_mut()?.gap)),
    knob(false, |class| Some(&mut class.streams.as_mut()?.count)),
];

/// The curve that a class is guaranteed.
fn own_curve(class: &mut ClassDraft) -> Option<&mut CurveDraft> {
    class.real_time.as_mut().or(class.curve.as_mut())
}

/// Whether a draft is a plan that is admitted and promises something.
fn passes(draft: &Draft) -> bool {
    Subject::new(draft).is_ok_and(|subject| subject.is_promising())
}

/// The draft made easier until it is admitted; `None` if it never is.
pub fn loosened(mut draft: Draft) -> Option<Draft> {
    for _ in 0..24 {
        if passes(&draft) {
            return Some(draft);
        }
        for class in &mut draft.classes {
            let times = [&mut class.deadline, &mut class.end_to_end];
            times.into_iter().flatten().for_each(|time| *time = *time * 3 / 2 + 1);
            if let Some(arrival) = &mut class.arrival {
                arrival.rate = (arrival.rate * 4 / 5).max(1);
            }
            for curve in [&mut class.real_time, &mut class.curve].into_iter().flatten() {
                curve.m2 = (curve.m2 * 4 / 5).max(1);
                curve.m1 = if curve.m1 > 0 { (curve.m1 * 4 / 5).max(curve.m2) } else { 0 };
            }
            if let Some(streams) = &mut class.streams {
                streams.count = (streams.count * 3 / 4).max(1);
                streams.gap = streams.gap * 5 / 4;
            }
        }
    }
    None
}

/// An admitted draft, and how far it was pushed.
pub struct Edge {
    /// The last draft that is admitted.
    pub inside: Draft,
    /// The first one that is refused, if any number was pushed so far.
    pub outside: Option<Draft>,
}

/// Pushes up to `most` numbers of an admitted draft to the edge, in turn.
pub fn pushed(mut draft: Draft, most: usize, draw: &mut Generator) -> Edge {
    // The class and the knob, by position.
    let mut knobs: Vec<(usize, usize)> = (0..draft.classes.len())
        .flat_map(|class| (0..KNOBS.len()).map(move |knob| (class, knob)))
        .filter(|&(class, knob)| (KNOBS[knob].value)(&mut draft.classes[class]).is_some())
        .collect();
    knobs.shuffle(draw);
    // Deadlines are what most promises are about.
    if draw.random_range(0..2u32) == 0 {
        knobs.sort_by_key(|(_, knob)| *knob > 0);
    }
    let mut outside = None;
    for (class, knob) in knobs.into_iter().take(most) {
        outside = push(&mut draft, class, &KNOBS[knob]).or(outside);
    }
    Edge { inside: draft, outside }
}

/// Moves one number to the last value that is admitted; gives the draft with the next one.
fn push(draft: &mut Draft, class: usize, knob: &Knob) -> Option<Draft> {
    let with = |draft: &Draft, value: u64| {
        let mut other = draft.clone();
        *(knob.value)(&mut other.classes[class])? = value;
        Some(other)
    };
    let mut good = *(knob.value)(&mut draft.classes[class])?;
    let larger = good.saturating_mul(64).min(10_000_000_000_000);
    let mut bad = if knob.is_shorter_harder { 0 } else { larger };
    if with(draft, bad).is_some_and(|other| passes(&other)) {
        return None;
    }
    while good.abs_diff(bad) > 1 {
        let middle = good.midpoint(bad);
        if passes(&with(draft, middle)?) { good = middle } else { bad = middle }
    }
    let refused = with(draft, bad);
    *draft = with(draft, good)?;
    refused
}
