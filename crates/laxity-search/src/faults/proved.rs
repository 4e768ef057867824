//! Faults in what is proved.

use laxity::packet::ClassId;
use laxity::units::{Bytes, Rate};
use laxity_plan::model::SchedulerSpec;

use laxity_adversary::contract::share_of;

use crate::subject::Subject;

/// Takes time from the bounds at all outputs: `time` of an output and a class.
pub(super) fn shorten(subject: &mut Subject, time: fn(&Subject, usize, usize) -> u64) {
    let before = subject.clone();
    for (number, output) in subject.outputs.iter_mut().enumerate() {
        for (class, bound) in output.bounds.iter_mut().enumerate() {
            *bound = bound.map(|bound| bound.saturating_sub(time(&before, number, class)).max(1));
        }
    }
}

fn takes(bytes: u64, rate: u64) -> u64 {
    Rate(rate.max(1)).time_for(Bytes(bytes)).0
}

/// The longest packet of all on the link.
pub(super) fn less_a_packet(subject: &Subject, output: usize, _: usize) -> u64 {
    takes(subject.plan.link.max_packet.0, subject.outputs[output].rate)
}

/// The longest packet of those on levels behind.
pub(super) fn less_a_packet_behind(subject: &Subject, output: usize, class: usize) -> u64 {
    let plan = &subject.plan;
    let levels = plan.priority_levels();
    let behind = plan.classes.iter().zip(&levels).filter(|(_, level)| **level > levels[class]);
    let longest = behind.map(|(other, _)| plan.max_packet(other).0).max().unwrap_or(0);
    takes(longest, subject.outputs[output].rate)
}

/// The class's longest packet at the rate that it is guaranteed.
pub(super) fn less_own_packet(subject: &Subject, _: usize, class: usize) -> u64 {
    let rate = subject.plan.guaranteed_rates()[class].0;
    takes(subject.plan.max_packet(&subject.plan.classes[class]).0, rate)
}

/// What each level above adds: two of the longest packets at its rate.
pub(super) fn less_levels(subject: &Subject, _: usize, class: usize) -> u64 {
    let plan = &subject.plan;
    let rates = plan.guaranteed_rates();
    let up = |id: &usize| plan.classes[*id].parent.map(ClassId::index);
    let above = std::iter::successors(up(&class), up);
    let longest = plan.max_packet(&plan.classes[class]).0;
    above.map(|above| 2 * takes(longest, rates[above].0)).sum()
}

/// The longest packet inside a share at the share's rate, and the longest one on the link.
pub(super) fn less_latency(subject: &Subject, output: usize, class: usize) -> u64 {
    let plan = &subject.plan;
    let share = share_of(plan, ClassId(class as u32)).map_or(class, ClassId::index);
    let longest = plan.max_packet(&plan.classes[class]).0;
    let link = takes(plan.link.max_packet.0, subject.outputs[output].rate);
    takes(longest, plan.guaranteed_rates()[share].0) + link
}

/// What all others may send in a round.
pub(super) fn less_a_round(subject: &Subject, output: usize, class: usize) -> u64 {
    let quanta = subject.plan.drr_quanta();
    let others = quanta.iter().enumerate().filter(|(other, _)| *other != class);
    let bytes = others.map(|(_, quantum)| u64::from(*quantum)).sum();
    takes(bytes, subject.outputs[output].rate)
}

/// What each class is served later than by a link of its rate to itself, but for a packet at that
/// rate.
pub(super) fn less_slots(subject: &Subject, output: usize, class: usize) -> u64 {
    let classes = subject.plan.qfq_classes();
    let weights: u64 = classes.iter().map(|class| class.weight).sum();
    let late = subject.plan.services()[class].as_ref().map_or(0, |service| service.late.0);
    let class = classes[class];
    let packet = u64::from(class.max_packet) * (weights / class.weight);
    late.saturating_sub(takes(packet, subject.outputs[output].rate))
}

/// The class's longest packet on the last link of each path.
pub(super) fn shorter_paths(subject: &mut Subject) {
    for feed in subject.feeds.iter_mut().flatten() {
        let last = feed.outputs[feed.outputs.len() - 1];
        let packet = subject.plan.max_packet(&subject.plan.classes[feed.class]).0;
        let less = takes(packet, subject.outputs[last].rate);
        feed.bound = feed.bound.map(|bound| bound.saturating_sub(less).max(1));
    }
}

/// What is proved where no class has packets that are shorter than its longest.
pub(super) fn no_short_packets(subject: &mut Subject) {
    let mut draft = subject.draft.clone();
    for arrival in draft.classes.iter_mut().filter_map(|class| class.arrival.as_mut()) {
        arrival.shortest = Some(arrival.packet);
    }
    let Ok(other) = Subject::new(&draft) else { return };
    for (output, other) in subject.outputs.iter_mut().zip(other.outputs) {
        output.bounds = other.bounds;
    }
    for (feed, other) in subject.feeds.iter_mut().flatten().zip(other.feeds.iter().flatten()) {
        feed.bound = other.bound;
    }
}

/// What is proved of paths where CAKE keeps the packets of a class in order.
pub(super) fn in_order_behind_cake(subject: &mut Subject) {
    let mut draft = subject.draft.clone();
    for link in draft.links.iter_mut().filter(|link| link.scheduler.contains("cake")) {
        link.scheduler += ", isolation = \"flowblind\"";
    }
    let Ok(other) = Subject::new(&draft) else { return };
    for (feed, other) in subject.feeds.iter_mut().flatten().zip(other.feeds.iter().flatten()) {
        feed.bound = other.bound;
    }
}

/// What is proved of paths where all deadlines are the longest one.
pub(super) fn one_deadline(subject: &mut Subject) {
    let mut draft = subject.draft.clone();
    let longest = draft.classes.iter().filter_map(|class| class.deadline).max();
    for class in &mut draft.classes {
        class.deadline = class.deadline.and(longest);
    }
    let Ok(other) = Subject::new(&draft) else { return };
    for (feed, other) in subject.feeds.iter_mut().flatten().zip(other.feeds.iter().flatten()) {
        feed.bound = other.bound.or(feed.bound);
    }
}

/// The jitter of all links but the last one of each path.
pub(super) fn less_jitter(subject: &mut Subject) {
    for feed in subject.feeds.iter_mut().flatten() {
        let inner = &feed.outputs[..feed.outputs.len() - 1];
        let jitter: u64 = inner.iter().map(|output| subject.outputs[*output].jitter).sum();
        feed.bound = feed.bound.map(|bound| bound.saturating_sub(jitter).max(1));
    }
}

/// A frame of time-driven priority.
pub(super) fn less_a_frame(subject: &mut Subject) {
    let SchedulerSpec::Tdp(spec) = subject.plan.scheduler else { return };
    for feed in subject.feeds.iter_mut().flatten() {
        feed.bound = feed.bound.map(|bound| bound.saturating_sub(spec.time.frame.0).max(1));
    }
}
