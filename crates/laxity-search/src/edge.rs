//! To the edge of admission: what a plan asks for is raised until the next nanosecond, byte or bit
//! a second would be refused.

use rand::RngExt;
use rand::seq::SliceRandom;

use crate::Generator;
use crate::draft::{ClassDraft, Draft};
use crate::subject::Subject;

/// A number of a plan that can be moved to where it is refused.
#[derive(Clone, Copy, Debug)]
struct Knob {
    /// The class, by position.
    class: usize,
    part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Deadline,
    EndToEnd,
    Bucket,
    Rate,
    CurveDelay,
    CurveBegin,
    CurveRate,
    LinkShare,
    Gap,
    Streams,
}

const PARTS: [Part; 10] = [
    Part::Deadline,
    Part::EndToEnd,
    Part::Bucket,
    Part::Rate,
    Part::CurveDelay,
    Part::CurveBegin,
    Part::CurveRate,
    Part::LinkShare,
    Part::Gap,
    Part::Streams,
];

impl Part {
    /// Whether less of it asks for more.
    fn is_shorter_harder(self) -> bool {
        matches!(self, Part::Deadline | Part::EndToEnd | Part::CurveDelay | Part::Gap)
    }

    fn value(self, class: &mut ClassDraft) -> Option<&mut u64> {
        match self {
            Part::Deadline => class.deadline.as_mut(),
            Part::EndToEnd => class.end_to_end.as_mut(),
            Part::Bucket => class.arrival.as_mut().map(|arrival| &mut arrival.bucket),
            Part::Rate => class.arrival.as_mut().map(|arrival| &mut arrival.rate),
            Part::CurveDelay => {
                class.real_time.as_mut().or(class.curve.as_mut()).map(|of| &mut of.d)
            }
            Part::CurveBegin => {
                class.real_time.as_mut().or(class.curve.as_mut()).map(|of| &mut of.m1)
            }
            Part::CurveRate => {
                class.real_time.as_mut().or(class.curve.as_mut()).map(|of| &mut of.m2)
            }
            Part::LinkShare => class.link_share.as_mut().map(|of| &mut of.m2),
            Part::Gap => class.streams.as_mut().map(|of| &mut of.gap),
            Part::Streams => class.streams.as_mut().map(|of| &mut of.count),
        }
    }
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
    let mut knobs: Vec<_> = (0..draft.classes.len())
        .flat_map(|class| PARTS.map(|part| Knob { class, part }))
        .filter(|knob| knob.part.value(&mut draft.classes[knob.class]).is_some())
        .collect();
    knobs.shuffle(draw);
    // Deadlines are what most promises are about.
    if draw.random_range(0..2u32) == 0 {
        knobs.sort_by_key(|knob| knob.part != Part::Deadline);
    }
    let mut outside = None;
    for knob in knobs.into_iter().take(most) {
        if let Some(refused) = push(&mut draft, knob) {
            outside = Some(refused);
        }
    }
    Edge { inside: draft, outside }
}

/// Moves one number to the last value that is admitted; gives the draft with the next one.
fn push(draft: &mut Draft, knob: Knob) -> Option<Draft> {
    let with = |draft: &Draft, value: u64| {
        let mut other = draft.clone();
        *knob.part.value(&mut other.classes[knob.class])? = value;
        Some(other)
    };
    let value = *knob.part.value(&mut draft.classes[knob.class])?;
    let (mut good, mut bad) = if knob.part.is_shorter_harder() {
        (value, 0)
    } else {
        (value, value.saturating_mul(64).min(10_000_000_000_000))
    };
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
