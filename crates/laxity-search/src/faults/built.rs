//! Faults in the plans that schedulers are built from.

use laxity::police::{Meter, TokenBucket};
use laxity::regulator::Regulator;
use laxity::sched::dwcs::Precedence;
use laxity::service::ServiceCurve;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::model::{Class, Loss, SchedulerSpec};

use laxity_adversary::contract::Conduct;

use crate::subject::Subject;

/// Exchanges something between the first two classes that it differs in.
fn exchange(
    plan: &mut Plan,
    differ: impl Fn(&Class, &Class) -> bool,
    swap: fn(&mut Class, &mut Class),
) {
    let count = plan.classes.len();
    let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
    for (a, b) in pairs {
        if differ(&plan.classes[a], &plan.classes[b]) {
            let (front, back) = plan.classes.split_at_mut(b);
            return swap(&mut front[a], &mut back[0]);
        }
    }
}

/// No packet blocks.
pub(super) fn no_blocking(plan: &mut Plan) {
    plan.link.max_packet = Bytes(1);
    for arrival in plan.classes.iter_mut().filter_map(|class| class.arrival.as_mut()) {
        arrival.packet = Some(Bytes(1));
    }
}

/// A quarter faster than it is.
pub(super) fn faster_link(plan: &mut Plan) {
    plan.link.rate = Rate(plan.link.rate.0 / 4 * 5);
}

/// The first class with a deadline sends next to nothing.
pub(super) fn class_left_out(plan: &mut Plan) {
    let class = plan.classes.iter_mut().find(|class| class.deadline.is_some());
    for bucket in
        class.into_iter().flat_map(|class| &mut class.arrival).flat_map(|of| &mut of.buckets)
    {
        (bucket.bucket, bucket.rate) = (Bytes(1), Rate(1));
    }
}

pub(super) fn exchanged_deadlines(plan: &mut Plan) {
    let differ =
        |a: &Class, b: &Class| a.deadline != b.deadline && a.deadline.and(b.deadline).is_some();
    exchange(plan, differ, |a, b| std::mem::swap(&mut a.deadline, &mut b.deadline));
}

/// The first class with a deadline comes after others that are due at the same instant.
pub(super) fn ties(plan: &mut Plan) {
    if let Some(due) = plan.classes.iter_mut().find_map(|class| class.deadline.as_mut()) {
        *due += Nanos(1);
    }
}

pub(super) fn exchanged_curves(plan: &mut Plan) {
    let differ = |a: &Class, b: &Class| {
        a.is_leaf() && b.is_leaf() && a.parent == b.parent && a.curves != b.curves
    };
    exchange(plan, differ, |a, b| std::mem::swap(&mut a.curves, &mut b.curves));
}

/// Their second slope always.
pub(super) fn straight_curves(plan: &mut Plan) {
    for class in &mut plan.classes {
        let curve = &mut class.curves.real_time;
        *curve = curve.map(|curve| ServiceCurve::linear(curve.m2()));
    }
}

pub(super) fn no_real_time(plan: &mut Plan) {
    for class in plan.classes.iter_mut().filter(|class| class.is_leaf()) {
        let curves = &mut class.curves;
        curves.link_share = curves.link_share.or(curves.real_time);
        curves.real_time = None;
    }
}

/// That of the last class.
pub(super) fn doubled_rate(plan: &mut Plan) {
    let curve = plan.classes.last_mut().and_then(|class| class.curves.link_share.as_mut());
    if let Some(curve) = curve {
        *curve = ServiceCurve::linear(Rate(2 * curve.m2().0));
    }
}

pub(super) fn exchanged_shares(plan: &mut Plan) {
    let differ = |a: &Class, b: &Class| {
        a.parent.or(b.parent).is_none() && a.curves.link_share != b.curves.link_share
    };
    exchange(plan, differ, |a, b| std::mem::swap(&mut a.curves, &mut b.curves));
}

pub(super) fn exchanged_weights(plan: &mut Plan) {
    let differ = |a: &Class, b: &Class| a.weight != b.weight;
    exchange(plan, differ, |a, b| std::mem::swap(&mut a.weight, &mut b.weight));
}

pub(super) fn exchanged_levels(plan: &mut Plan) {
    let differ = |a: &Class, b: &Class| a.level != b.level;
    exchange(plan, differ, |a, b| std::mem::swap(&mut a.level, &mut b.level));
}

pub(super) fn looser_windows(plan: &mut Plan) {
    for class in &mut plan.classes {
        class.loss = class.loss.map(|loss| {
            let lost = (loss.lost() + 1).min(loss.window());
            Loss::new(lost, loss.window()).expect("no more than the window")
        });
    }
}

pub(super) fn longer_gaps(plan: &mut Plan) {
    for gap in plan.classes.iter_mut().filter_map(|class| class.gap.as_mut()) {
        *gap = Nanos(gap.0 + gap.0.div_ceil(4));
    }
}

/// Of the class that can lose least.
pub(super) fn another_stream(subject: &mut Subject) {
    let classes = subject.plan.classes.iter().enumerate();
    let needs = |class: &Class| class.loss.map(|loss| loss.lost() * 1_000 / loss.window());
    let least = classes.filter(|(_, class)| class.gap.is_some());
    let Some((least, _)) = least.min_by_key(|(_, class)| needs(class)) else { return };
    subject.plan.classes[least].count += 1;
    subject.outputs.iter_mut().for_each(|output| output.plan.classes[least].count += 1);
    if let Conduct::InStep { streams, .. } = &mut subject.contracts[least].conduct {
        *streams += 1;
    }
}

pub(super) fn loss_first(plan: &mut Plan) {
    if let SchedulerSpec::Dwcs(settings) = &mut plan.scheduler {
        settings.precedence = Precedence::LossFirst;
    }
}

/// Not for what comes to them.
pub(super) fn for_what_enters(subject: &mut Subject) {
    for output in &mut subject.outputs {
        for (class, entered) in output.plan.classes.iter_mut().zip(&subject.plan.classes) {
            class.arrival.clone_from(&entered.arrival);
        }
    }
}

pub(super) fn unregulated(subject: &mut Subject) {
    for feed in subject.feeds.iter_mut().flatten() {
        feed.regulators.fill(None);
    }
}

/// By a packet in each bucket.
pub(super) fn looser_regulators(subject: &mut Subject) {
    for feed in subject.feeds.iter().flatten() {
        let class = &subject.plan.classes[feed.class];
        let Some(arrival) = &class.arrival else { continue };
        let packet = subject.plan.max_packet(class);
        let looser = |bucket: &TokenBucket| TokenBucket {
            bucket: Bytes(bucket.bucket.0 + packet.0),
            ..*bucket
        };
        for number in feed.regulators.iter().flatten() {
            let meter = Meter::new(arrival.buckets.iter().map(looser));
            subject.regulators[*number] = Regulator::new(meter);
        }
    }
}

/// Of the rates of all classes.
pub(super) fn half_reserved(subject: &mut Subject) {
    for arrival in subject.simulated.classes.iter_mut().filter_map(|class| class.arrival.as_mut()) {
        for bucket in &mut arrival.buckets {
            bucket.rate = Rate(bucket.rate.0.div_ceil(2));
        }
    }
}
