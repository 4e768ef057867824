//! What fair queueing's bounds say about a plan.

use laxity::admit::fair::Overbooked;
use laxity::admit::{Interval, edf};
use laxity::packet::ClassId;
use laxity::units::Bytes;
use laxity_plan::Plan;

use super::cells::{Column, cell, megabits};
use super::class::ClassAnswer;
use super::outcome::{Admission, Test};
use super::room::{Room, Tested};
use super::sentences::{deadlines, listed, two_rates};
use crate::quantity;

pub(super) const WFQ: Room = Room {
    test: |plan| Some(flat(plan)),
    tested: Tested::ByBounds,
    classes: |plan, answers| share_out(plan, &plan.flat_weights(), answers),
    columns: |_, _| vec![RATE()],
    mends: "",
};

pub(super) const WF2Q: Room = Room {
    test: |plan| {
        Some(match plan.has_schedulers_below() {
            true => below(plan),
            false => hierarchy(plan),
        })
    },
    tested: Tested::Beyond,
    classes: |plan, answers| {
        let shares = plan.wf2q_shares();
        for answer in answers.iter_mut().filter(|answer| plan.has_share(answer.id)) {
            answer.rate_bps = Some(shares[answer.id.index()].rate.0);
        }
    },
    columns: |_, _| vec![RATE()],
    mends: "",
};

pub(super) const DRR: Room = Room {
    test: |plan| Some(flat(plan)),
    tested: Tested::ByBounds,
    classes: |plan, answers| {
        let quanta = plan.drr_quanta();
        let weights: Vec<_> = quanta.iter().map(|quantum| u64::from(*quantum)).collect();
        share_out(plan, &weights, answers);
        for answer in answers {
            answer.quantum_bytes = Some(quanta[answer.id.index()]);
        }
    },
    columns: |_, _| {
        let show = |bytes: u32| quantity::count(bytes.into());
        vec![RATE(), ("quantum [b]".to_owned(), cell(|class| class.quantum_bytes, show))]
    },
    mends: "",
};

pub(super) const QFQ: Room = Room {
    test: |plan| Some(flat(plan)),
    tested: Tested::ByBounds,
    classes: |plan, answers| {
        let weights: Vec<_> = plan.qfq_classes().iter().map(|class| class.weight).collect();
        share_out(plan, &weights, answers);
    },
    columns: |_, _| vec![RATE()],
    mends: "",
};

/// The rate that a class is guaranteed.
const RATE: fn() -> Column = || ("rate [Mbit/s]".to_owned(), megabits(|class| class.rate_bps));

const NO_DEADLINE: &str = "No class has a deadline. A class that keeps to its arrival curve is \
                           delayed no longer than its bound.";

/// The answer of WF2Q+'s test.
fn hierarchy(plan: &Plan) -> Admission {
    let test = plan.wf2q_hierarchy().test();
    let fits = test.overbooked.is_empty();
    let bounds = plan.for_this_plan(test.bounds.clone());
    let deadlines = deadlines(plan, &bounds);
    let rates = match &test.overbooked[..] {
        [] => "The rates fit at every level.".to_string(),
        overbooked => {
            let places: Vec<_> = overbooked.iter().map(|place| at(plan, place)).collect();
            format!(
                "More is promised than there is; {}. There a class that is always busy may lock others out.",
                listed(&places)
            )
        }
    };
    let deadline = deadlines.as_ref().map_or(NO_DEADLINE, |(_, statement)| statement);
    let statement = if fits { format!("{deadline} {rates}") } else { rates };
    Admission {
        admitted: Some(fits && deadlines.is_none_or(|(kept, _)| kept)),
        statement,
        bounds,
        test: Test::Wf2q(test),
    }
}

/// The answer where classes hold schedulers of their own: the shares have to fit, and what EDF
/// promises inside each.
fn below(plan: &Plan) -> Admission {
    let test = plan.guarantees_below();
    let fits = test.overbooked.is_empty();
    let inside: Vec<_> =
        test.edf.iter().filter_map(|(class, edf)| tightest(plan, *class, edf)).collect();
    let admitted = test.edf.iter().all(|(_, edf)| edf.admitted);
    let (kept, deadline) = match deadlines(plan, &test.bounds) {
        Some((kept, statement)) => (kept, statement),
        None => (true, NO_DEADLINE.to_string()),
    };
    let statement = match &test.overbooked[..] {
        [] => format!("{deadline} {}", inside.join(" ")).trim_end().to_string(),
        overbooked => {
            let places: Vec<_> = overbooked.iter().map(|place| at(plan, place)).collect();
            format!("More is promised than there is; {}.", listed(&places))
        }
    };
    Admission {
        admitted: Some(fits && kept && admitted),
        statement,
        bounds: test.bounds,
        test: Test::Flat,
    }
}

/// Where EDF inside a share has least to spare.
fn tightest(plan: &Plan, class: ClassId, edf: &edf::Admission) -> Option<String> {
    let Interval { length, capacity, demand } = edf.binding?;
    let name = &plan.classes[class.index()].name;
    let (length, bytes) = (quantity::time(length.0 as f64), |size: Bytes| quantity::count(size.0));
    Some(format!(
        "Inside {name} an interval of {length} is the tightest: up to {} bytes may be due in it, and \
         {name} can be sure of {}.",
        bytes(demand),
        bytes(capacity)
    ))
}

/// Where the rates sum to too much.
fn at(plan: &Plan, place: &Overbooked) -> String {
    let (asked, given) = two_rates(place.asked, place.given);
    match place.class.map(|class| &plan.classes[class.index()].name) {
        Some(name) => {
            format!("in class {name}: its classes' rates sum to {asked}, {name} has {given}")
        }
        None => format!("the rates at the top sum to {asked}, the link has {given}"),
    }
}

/// The answer of the bounds of fair queueing on one level.
pub(super) fn flat(plan: &Plan) -> Admission {
    let bounds = plan.bounds();
    let (admitted, statement) =
        deadlines(plan, &bounds).unwrap_or_else(|| (true, NO_DEADLINE.to_string()));
    Admission { admitted: Some(admitted), statement, bounds, test: Test::Flat }
}

/// The part of the link that a weight among those of all leaves comes to, rounded down.
fn share_out(plan: &Plan, weights: &[u64], answers: &mut [ClassAnswer]) {
    let weight = |id: ClassId| u128::from(weights[id.index()]);
    let all: u128 = plan.leaves().map(|(id, _)| weight(id)).sum();
    for answer in answers {
        let rate = u128::from(plan.link.rate.0) * weight(answer.id) / all;
        answer.rate_bps = u64::try_from(rate).ok();
    }
}
