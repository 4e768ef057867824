//! A counterexample made simple: packets, classes and digits are taken away as long as it still
//! breaks.

use crate::case::broken_plan::BrokenPlan;
use crate::case::{breaks, from_the_start};
use crate::draft::{ClassDraft, CurveDraft, Draft};
use crate::faults::{Fault, with_fault};
use crate::replay;
use crate::testbed::judge::{Violation, ViolationKind};
use laxity_adversary::arrival::Arrival;

/// How many packets may be sent in search of a simpler one.
const EFFORT: u64 = 4_000_000;

/// The simplest that is found of the same sort.
pub fn shrunk(broken: BrokenPlan, fault: Option<&'static Fault>) -> BrokenPlan {
    let mut shrinking = Shrinking { best: broken, fault, effort: EFFORT };
    loop {
        let before = shrinking.best.clone();
        shrinking.fewer_packets();
        shrinking.fewer_classes();
        shrinking.rounder_plan();
        shrinking.simpler_packets();
        if shrinking.best == before || shrinking.effort == 0 {
            return shrinking.best;
        }
    }
}

struct Shrinking {
    best: BrokenPlan,
    fault: Option<&'static Fault>,
    effort: u64,
}

impl Shrinking {
    /// Takes on another counterexample if it is one.
    fn try_on(&mut self, draft: &Draft, arrivals: Vec<Arrival>) -> bool {
        if self.effort == 0 {
            return false;
        }
        // A source for each packet of a network takes longer to read than packets take to run.
        let reads =
            matches!(self.best.what.what, ViolationKind::Verdict(_)) && !draft.links.is_empty();
        let cost = arrivals.len() as u64 * if reads { 100 } else { 1 } + 100;
        self.effort = self.effort.saturating_sub(cost);
        let Ok(subject) = with_fault(draft, self.fault) else { return false };
        let what = match &self.best.what.what {
            ViolationKind::Verdict(_) => replay::run(draft, &arrivals)
                .ok()
                .and_then(|replayed| Some(Violation::verdict(replayed.broken.first()?.clone()))),
            _ => breaks(&subject, &arrivals, &self.best.rogues),
        };
        let what = what.filter(|what| what.what.is_like(&self.best.what.what));
        let Some(what) = what else { return false };
        let rogues = self.best.rogues.clone();
        self.best = BrokenPlan { draft: draft.clone(), arrivals, rogues, what };
        true
    }

    fn fewer_packets(&mut self) {
        let mut chunk = self.best.arrivals.len().div_ceil(2);
        while chunk > 0 {
            let mut from = 0;
            while from < self.best.arrivals.len() {
                let mut fewer = self.best.arrivals.clone();
                fewer.drain(from..(from + chunk).min(fewer.len()));
                let draft = self.best.draft.clone();
                if fewer.is_empty() || !self.try_on(&draft, fewer) {
                    from += chunk;
                }
            }
            chunk /= 2;
        }
    }

    fn fewer_classes(&mut self) {
        for name in self.best.draft.classes.iter().map(|class| class.name).rev().collect::<Vec<_>>()
        {
            let draft = &self.best.draft;
            let mut fewer = draft.clone();
            fewer.classes.retain(|class| class.name != name);
            fewer.paths.retain(|path| path.class != name);
            let arrivals = self.best.arrivals.iter().copied();
            let known = |arrival: &Arrival| {
                if draft.links.is_empty() {
                    arrival.feed != name
                } else {
                    fewer.paths.iter().any(|path| path.name == arrival.feed)
                }
            };
            let arrivals = arrivals.filter(known).collect();
            self.try_on(&fewer, arrivals);
        }
        for name in self.best.draft.paths.iter().map(|path| path.name).collect::<Vec<_>>() {
            let mut fewer = self.best.draft.clone();
            fewer.paths.retain(|path| path.name != name);
            let arrivals = self.best.arrivals.iter().copied();
            let arrivals = arrivals.filter(|arrival| arrival.feed != name).collect();
            self.try_on(&fewer, arrivals);
        }
    }

    fn rounder_plan(&mut self) {
        for class in 0..self.best.draft.classes.len() {
            for number in 0..numbers(&mut self.best.draft.clone().classes[class]).len() {
                self.rounder(class, number);
            }
        }
    }

    /// Tries rounder values of one number, the roundest first.
    fn rounder(&mut self, class: usize, number: usize) {
        let value = *numbers(&mut self.best.draft.classes[class])[number];
        let mut unit = 10u64.pow(value.max(1).ilog10());
        while unit > 1 {
            for rounder in [value / unit * unit, value.div_ceil(unit) * unit] {
                if rounder == value {
                    return;
                }
                let mut draft = self.best.draft.clone();
                *numbers(&mut draft.classes[class])[number] = rounder;
                if self.try_on(&draft, self.best.arrivals.clone()) {
                    return;
                }
            }
            unit /= 10;
        }
    }

    fn simpler_packets(&mut self) {
        let draft = self.best.draft.clone();
        if let Ok(subject) = with_fault(&draft, self.fault) {
            let arrivals = from_the_start(&subject, &self.best.arrivals);
            self.try_on(&draft, arrivals);
        }
        let longest = |feed: u16| {
            let path = draft.paths.iter().find(|path| path.name == feed);
            draft.longest(path.map_or(feed, |path| path.class)) as u32
        };
        for at in 0..self.best.arrivals.len() {
            let Arrival { time, feed, length, .. } = self.best.arrivals[at];
            let before = at.checked_sub(1).map_or(1, |before| self.best.arrivals[before].time);
            let with = |time, length| {
                let mut arrivals = self.best.arrivals.clone();
                (arrivals[at].time, arrivals[at].length) = (time, length);
                arrivals
            };
            let tries = [
                with(before, length),
                with(time / 1_000 * 1_000, length),
                with(time, longest(feed)),
                with(time, length.div_ceil(100) * 100),
            ];
            for arrivals in tries {
                if arrivals[at] != self.best.arrivals[at] && self.try_on(&draft, arrivals) {
                    break;
                }
            }
        }
    }
}

/// The numbers of a class that may be rounded.
fn numbers(class: &mut ClassDraft) -> Vec<&mut u64> {
    fn curve_numbers(curve: &mut CurveDraft) -> [&mut u64; 3] {
        [&mut curve.m1, &mut curve.d, &mut curve.m2]
    }
    let times =
        [&mut class.deadline, &mut class.end_to_end, &mut class.weight, &mut class.upper_limit];
    let mut numbers: Vec<_> = times.into_iter().flatten().collect();
    for curve in [&mut class.curve, &mut class.real_time, &mut class.link_share] {
        numbers.extend(curve.iter_mut().flat_map(curve_numbers));
    }
    if let Some(arrival) = &mut class.arrival {
        numbers.extend([&mut arrival.bucket, &mut arrival.rate, &mut arrival.packet]);
        numbers.extend(&mut arrival.peak);
    }
    if let Some(streams) = &mut class.streams {
        numbers.extend([&mut streams.count, &mut streams.gap]);
    }
    numbers
}
