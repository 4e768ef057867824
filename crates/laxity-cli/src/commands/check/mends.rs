//! What one class alone could change to make a plan pass.

use laxity::admit::edf::{Admission, RealTime};
use laxity::admit::{arrival_curve, hfsc};
use laxity::curve::{Exact, exact_nanos};
use laxity::units::Nanos;
use laxity_plan::Plan;

use super::ClassAnswer;

/// What a class could change is sought for so many classes, for fewer where there are many: its
/// cost grows with their number.
const MOST_MENDS: usize = 16;
const MOST_MENDS_TIMES_CLASSES: usize = 4_000;

/// Of classes and their work, those with the most.
fn most_demanding(work: Vec<(usize, Exact)>) -> impl Iterator<Item = usize> {
    let most = MOST_MENDS.min(MOST_MENDS_TIMES_CLASSES / work.len().max(1));
    let mut by_work = work;
    by_work.sort_by(|(_, a), (_, b)| b.cmp(a));
    by_work.into_iter().take(most).map(|(class, _)| class)
}

/// Seeks deadlines and rates for the real-time classes of EDF with the most work due where it is
/// tightest.
pub fn edf(plan: &Plan, admission: &Admission, answers: &mut [ClassAnswer]) {
    let Some(binding) = admission.binding else { return };
    let system = plan.edf_system();
    let numbers = plan.real_time_classes();
    let due = |class: &RealTime| {
        let arrived_until = exact_nanos(binding.length) - exact_nanos(class.deadline);
        arrival_curve(&class.arrival).value(&arrived_until)
    };
    let work = system.real_time.iter().map(due).enumerate();
    for k in most_demanding(work.collect()) {
        let Some(answer) = answers.iter_mut().find(|answer| answer.id.index() == numbers[k]) else {
            continue;
        };
        answer.mends_sought = true;
        answer.shortest_deadline_ns = system.shortest_admitted_deadline(k).map(|Nanos(d)| d);
        answer.highest_rate_bps = system.highest_admitted_rate(k).map(|rate| rate.0);
    }
}

/// Seeks rates and bursts for the leaves of H-FSC with the largest real-time curves where they are
/// tightest.
pub fn hfsc(plan: &Plan, admission: &hfsc::Admission, answers: &mut [ClassAnswer]) {
    let system = plan.hfsc_system();
    let at = admission.binding.map_or(Nanos(1), |interval| interval.length);
    let asked = answers.iter().enumerate().filter_map(|(place, answer)| {
        Some((place, answer.real_time?.curve.curve().value(&exact_nanos(at))))
    });
    for place in most_demanding(asked.collect()) {
        let answer = &mut answers[place];
        let class = answer.id.index();
        answer.mends_sought = true;
        answer.highest_rate_bps = system.highest_admitted_rate(class).map(|rate| rate.0);
        answer.largest_burst_bytes = system.largest_admitted_burst(class).map(|burst| burst.0);
    }
}
