//! Fair queueing and static priority: bounds, and for WF²Q+ whether rates fit at every level.

use laxity::admit::edf;
use laxity::admit::fair::Overbooking;
use laxity::packet::ClassId;
use laxity_plan::Plan;

use super::Tester;
use super::admission::{Admission, Test};
use super::class::ClassProof;
use crate::reason::{Finding, Reason, deadlines};

pub(super) const WFQ: Tester =
    Tester { classes: |plan, classes| share_out(plan, &plan.flat_weights(), classes), ..BOUNDS };

pub(super) const WF2Q: Tester = Tester {
    test: |plan| Some(if plan.has_inner_schedulers() { below(plan) } else { hierarchy(plan) }),
    refuses_beyond_bounds: true,
    classes: |plan, classes| {
        let shares = plan.wf2q_shares();
        for class in classes.iter_mut().filter(|class| plan.has_share(class.id)) {
            class.rate_bps = Some(shares[class.id.index()].rate.0);
        }
    },
};

pub(super) const DRR: Tester = Tester {
    classes: |plan, classes| {
        let quanta = plan.drr_quanta();
        let weights: Vec<_> = quanta.iter().map(|quantum| u64::from(*quantum)).collect();
        share_out(plan, &weights, classes);
        for class in classes {
            class.quantum_bytes = Some(quanta[class.id.index()]);
        }
    },
    ..BOUNDS
};

pub(super) const QFQ: Tester = Tester {
    classes: |plan, classes| {
        let weights: Vec<_> = plan.qfq_classes().iter().map(|class| class.weight).collect();
        share_out(plan, &weights, classes);
    },
    ..BOUNDS
};

pub(super) const PRIORITY: Tester = Tester {
    classes: |plan, classes| {
        let levels = plan.priority_levels();
        for class in classes {
            class.level = Some(levels[class.id.index()]);
        }
    },
    ..BOUNDS
};

/// Tests delay bounds alone.
pub(super) const BOUNDS: Tester = Tester { test: |plan| Some(bounds(plan)), ..Tester::NONE };

/// The answer of delay bounds alone.
fn bounds(plan: &Plan) -> Admission {
    let bounds = plan.bounds();
    let reasons = deadlines(plan, &bounds, Some(Finding::NoDeadline));
    Admission { reasons, bounds, test: Test::Bounds }
}

/// The answer of WF²Q+'s test.
fn hierarchy(plan: &Plan) -> Admission {
    let test = plan.wf2q_hierarchy().test();
    let bounds = plan.for_this_plan(test.bounds);
    let reasons = if test.overbooked.is_empty() {
        let mut reasons = deadlines(plan, &bounds, Some(Finding::NoDeadline));
        reasons.push(Reason::whole(Finding::RatesFit));
        reasons
    } else {
        overbooked(plan, &test.overbooked)
    };
    Admission { reasons, bounds, test: Test::Bounds }
}

/// The answer where classes hold schedulers of their own: the shares have to fit, and what EDF
/// promises inside each.
fn below(plan: &Plan) -> Admission {
    let test = plan.inner_guarantees();
    let bounds = plan.for_this_plan(test.bounds);
    let reasons = if test.overbooked.is_empty() {
        let mut reasons = deadlines(plan, &bounds, Some(Finding::NoDeadline));
        reasons.extend(test.edf.iter().filter_map(|(class, edf)| tightest(plan, *class, edf)));
        reasons
    } else {
        overbooked(plan, &test.overbooked)
    };
    Admission { reasons, bounds, test: Test::Bounds }
}

/// Where EDF inside a share has least to spare.
fn tightest(plan: &Plan, class: ClassId, edf: &edf::Admission) -> Option<Reason> {
    let finding = match (edf.binding, edf.admitted) {
        (None, true) => return None,
        (None, false) => Finding::EndlessInterval,
        (Some(interval), true) => Finding::Tightest(interval.into()),
        (Some(interval), false) => Finding::Interval(interval.into()),
    };
    Some(Reason::class(&plan.classes[class.index()].name, finding))
}

/// Where the rates sum to too much.
fn overbooked(plan: &Plan, places: &[Overbooking]) -> Vec<Reason> {
    let reason = |place: &Overbooking| {
        let (asked_bps, given_bps) = (place.asked.0, place.given.0);
        Reason {
            class: place.class.map(|class| plan.classes[class.index()].name.clone()),
            ..Reason::whole(Finding::RatesOverbooked { asked_bps, given_bps })
        }
    };
    places.iter().map(reason).collect()
}

/// The part of the link that a weight among those of all leaves comes to, rounded down.
fn share_out(plan: &Plan, weights: &[u64], classes: &mut [ClassProof]) {
    let weight = |id: ClassId| u128::from(weights[id.index()]);
    let all: u128 = plan.leaves().map(|(id, _)| weight(id)).sum();
    for class in classes {
        let rate = u128::from(plan.link.rate.0) * weight(class.id) / all;
        class.rate_bps = u64::try_from(rate).ok();
    }
}
