//! What H-FSC's admission test says about a plan, and what its curves leave, as figures.

mod excess;
mod remarks;

use laxity::admit::Interval;
use laxity::admit::hfsc::{
    Admission as Answer, Excess, System, Trap, TrapKind, largest_burst, largest_linear,
};
use laxity::curve::{Curve, exact_nanos};
use laxity::packet::ClassId;
use laxity::sched::hfsc::Curves;
use laxity::service::ServiceCurve;
use laxity::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};
use laxity_plan::Plan;
use num_traits::ToPrimitive;
use serde::Serialize;

use super::cells::{Column, cell, mend};
use super::class::{ClassAnswer, CurveAnswer};
use super::curves::{CurveFigure, NamedCurve};
use super::edf::corners;
use super::mends::most_demanding;
use super::outcome::{Admission, Test};
use super::room::{Room, Tested};
use super::sentences::{deadlines, listed, two_rates};

use crate::quantity;

pub use excess::ExcessView;
pub use remarks::Remark;

pub(super) const ROOM: Room = Room {
    test: |plan| Some(admission(plan)),
    tested: Tested::Beyond,
    classes: |plan, answers| {
        let specs = plan.hfsc_classes();
        for answer in answers {
            let Curves { real_time, link_share, upper_limit } = specs[answer.id.index()].curves;
            answer.real_time = real_time.map(CurveAnswer::from);
            answer.link_share = link_share.map(CurveAnswer::from);
            answer.upper_limit = upper_limit.map(CurveAnswer::from);
        }
    },
    columns: |classes, _| {
        let show = |of: CurveAnswer| curve(&of.curve);
        let mut columns: Vec<Column> = vec![
            ("real-time".to_owned(), cell(|class| class.real_time, show)),
            ("link-share".to_owned(), cell(|class| class.link_share, show)),
        ];
        if classes.iter().any(|class| class.upper_limit.is_some()) {
            columns.push(("upper-limit".to_owned(), cell(|class| class.upper_limit, show)));
        }
        let has_curve = |class: &ClassAnswer| class.real_time.is_some();
        let has_burst =
            |class: &ClassAnswer| class.real_time.is_some_and(|of| of.curve.is_concave());
        let megabits = |bps| quantity::megabits(bps as f64);
        columns.extend([
            (
                "highest rate [Mbit/s]".to_owned(),
                mend(has_curve, |class| class.highest_rate_bps, megabits),
            ),
            (
                "largest burst [b]".to_owned(),
                mend(has_burst, |class| class.largest_burst_bytes, quantity::count),
            ),
        ]);
        columns
    },
    mends: "Highest rate and largest burst say what one class alone could change of its real-time curve, \
            the rate in the long run or the burst within the first piece, for all curves to be kept; a dash \
            means that it alone cannot.\n",
};

/// The answer of the test, deadlines included.
fn admission(plan: &Plan) -> Admission {
    let test = plan.hfsc_system().test();
    let bounds = plan.for_this_plan(test.bounds.clone());
    let deadlines = deadlines(plan, &bounds);
    let statement = match (&deadlines, test.admitted) {
        (_, false) => refusal(plan, &test),
        (None, true) => kept(plan, &test),
        (Some((_, statement)), true) => format!("{statement} {}", kept(plan, &test)),
    };
    Admission {
        admitted: Some(test.admitted && deadlines.is_none_or(|(kept, _)| kept)),
        statement,
        bounds,
        test: Test::Hfsc(test),
    }
}

fn kept(plan: &Plan, test: &Answer) -> String {
    if test.long_run == Rate(0) {
        return "There is no real-time curve, so nothing is promised.".to_string();
    }
    let (promised, link) = two_rates(test.long_run, plan.link.rate);
    let fullest = test.binding.map_or(String::new(), |interval| {
        let (length, capacity, demand) = in_words(&interval);
        format!(", and at first up to {demand} bytes within {length}, in which the link sends {capacity}")
    });
    format!(
        "Every real-time curve is kept: they sum to {promised} of the link's {link} in the long run{fullest}."
    )
}

fn refusal(plan: &Plan, test: &Answer) -> String {
    let outgrown = test.long_run > plan.link.rate;
    let sum = match &test.binding {
        Some(interval) if !outgrown => {
            let (length, capacity, demand) = in_words(interval);
            format!(
                "within {length} they sum to {demand} bytes, but the link sends only {capacity}"
            )
        }
        _ => {
            let (asked, given) = two_rates(test.long_run, plan.link.rate);
            format!("in the long run they sum to {asked}, but the link has only {given}")
        }
    };
    let place = |Place { class, excess }: &Place| {
        let (asked, given) = excess.sums();
        format!("in class {class}: its classes' curves sum to {asked}, {class} has {given}")
    };
    let places: Vec<_> = places(plan, test).iter().map(place).collect();
    let places = if places.is_empty() { String::new() } else { format!("; {}", listed(&places)) };
    format!("Not every real-time curve can be kept: {sum}{places}.")
}

/// A class in which real-time curves sum to more than its share, which is where to look when a plan
/// is refused.
#[derive(Clone, Debug, Serialize)]
pub struct Place {
    /// The class.
    pub class: String,
    /// By how much.
    #[serde(flatten)]
    pub excess: ExcessView,
}

/// The classes, as far down as they go, in which real-time curves sum to more than the class's
/// share: in the long run if that is what is too much, otherwise anyhow. None in an admitted plan.
pub fn places(plan: &Plan, test: &Answer) -> Vec<Place> {
    if test.admitted {
        return Vec::new();
    }
    let lasting = test.long_run > plan.link.rate;
    let exceeded = |trap: &Trap| match trap {
        Trap { class: Some(class), kind: TrapKind::RealTimeAboveShare { excess, .. } } => {
            let is_interior_excess = !plan.classes[class.index()].is_leaf()
                && (!lasting || matches!(excess, Excess::Lasting { .. }));
            is_interior_excess.then_some((*class, *excess))
        }
        _ => None,
    };
    let exceeded: Vec<_> = plan.hfsc_system().traps().iter().filter_map(exceeded).collect();
    let mut has_one_below = vec![false; plan.classes.len()];
    for (class, _) in &exceeded {
        let mut above = plan.classes[class.index()].parent;
        while let Some(class) = above.filter(|class| !has_one_below[class.index()]) {
            has_one_below[class.index()] = true;
            above = plan.classes[class.index()].parent;
        }
    }
    let deepest = exceeded.iter().filter(|(class, _)| !has_one_below[class.index()]);
    let place = |(class, excess): &(ClassId, Excess)| Place {
        class: plan.classes[class.index()].name.clone(),
        excess: (*excess).into(),
    };
    deepest.map(place).collect()
}

/// Length, capacity and demand.
fn in_words(interval: &Interval) -> (String, String, String) {
    let bytes = |size: Bytes| quantity::count(size.0);
    let length = quantity::time(interval.length.0 as f64);
    (length, bytes(interval.capacity), bytes(interval.demand))
}

/// A service curve in words: `256 kbit/s for 5 ms, then 64 kbit/s`.
pub fn curve(curve: &ServiceCurve) -> String {
    let rate = |rate: u64| quantity::rate(rate as f64);
    let after = rate(curve.m2().0);
    let time = quantity::time(curve.d().0 as f64);
    match curve.m1() {
        m1 if m1 == curve.m2().0 => after,
        0 => format!("nothing for {time}, then {after}"),
        m1 => format!("{} for {time}, then {after}", rate(m1)),
    }
}

/// What the real-time curves leave.
#[derive(Clone, Debug, Serialize)]
pub struct LeftView {
    /// In the long run.
    pub long_run_rate_bps: f64,
    /// The largest linear real-time curve that could be added; absent if none fits.
    pub largest_linear_bps: Option<u64>,
    /// The largest bursts that could be, with 1 bit/s afterwards.
    pub largest_bursts: Vec<BurstView>,
}

/// A burst that could be served within a time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BurstView {
    /// The time.
    pub delay_ns: u64,
    /// The burst.
    pub bytes: u64,
}

impl LeftView {
    /// What a plan leaves; bursts for the shortest and the longest first piece of its curves.
    pub fn of(plan: &Plan) -> Self {
        let system = plan.hfsc_system();
        let left = system.residual();
        let burst = |delay: Nanos| {
            let bytes = largest_burst(&left, delay, Rate(1)).unwrap_or_default();
            BurstView { delay_ns: delay.0, bytes: bytes.0 }
        };
        let pieces = first_pieces(&system);
        let mut delays: Vec<_> = pieces.clone().min().into_iter().chain(pieces.max()).collect();
        delays.dedup();
        let long_run = left.final_slope().to_f64().unwrap_or(0.0);
        LeftView {
            long_run_rate_bps: long_run * NANOBITS_PER_BYTE as f64,
            largest_linear_bps: largest_linear(&left).map(|rate| rate.0),
            largest_bursts: delays.into_iter().map(burst).collect(),
        }
    }

    /// The same in words, each a name and a value with its unit.
    pub fn details(&self) -> Vec<(String, String)> {
        let linear = self.largest_linear_bps.map(|rate| quantity::rate(rate as f64));
        let mut details = vec![
            ("Left to give".to_string(), quantity::rate(self.long_run_rate_bps)),
            ("Largest linear curve".to_string(), linear.unwrap_or("none fits".to_string())),
        ];
        details.extend(self.largest_bursts.iter().map(|burst| {
            let within = quantity::time(burst.delay_ns as f64);
            (
                format!("Largest burst within {within}"),
                format!("{} bytes", quantity::count(burst.bytes)),
            )
        }));
        details
    }
}

/// How long the first pieces of the real-time curves are.
fn first_pieces(system: &System) -> impl Iterator<Item = Nanos> + Clone {
    let curves = system.classes.iter().filter_map(|class| class.spec.curves.real_time);
    curves.map(|curve| curve.d()).filter(|d| *d > Nanos::ZERO)
}

/// What is left to give, and the traps, for a report.
pub(crate) fn details(plan: &Plan) -> (Vec<(String, String)>, Vec<String>) {
    (LeftView::of(plan).details(), Remark::lines(&Remark::all(plan)))
}

/// The sum of the real-time curves against the link, and what can be added. `None` for a plan
/// without real-time curves.
pub(crate) fn promised_curves(plan: &Plan) -> Option<CurveFigure> {
    let system = plan.hfsc_system();
    system.classes.iter().find(|class| class.spec.curves.real_time.is_some())?;
    let usual = plan.link.rate.time_for(plan.link.max_packet).0.saturating_mul(10);
    let longest = first_pieces(&system).max().unwrap_or_default();
    let until = Nanos(longest.0.saturating_mul(2).max(usual));
    let named = |name: &str, curve: &Curve| NamedCurve {
        name: name.to_string(),
        points: corners(curve, until),
    };
    Some(CurveFigure {
        title: "Service promised, and what the link can do".to_string(),
        caption: "The most that the real-time curves of all leaves together ask for within any \
                  time, and what the link sends in it. They can be kept as long as the sum stays \
                  under the link. A real-time curve that stays under what is left to give could be \
                  added."
            .to_string(),
        curves: vec![
            named("link", &Curve::line(plan.link.rate)),
            named("sum of the real-time curves", &system.promised()),
            named("left to give", &system.residual()),
        ],
    })
}

/// Seeks rates and bursts for the leaves of H-FSC with the largest real-time curves where they are
/// tightest.
pub(super) fn seek_mends(plan: &Plan, admission: &Answer, answers: &mut [ClassAnswer]) {
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
