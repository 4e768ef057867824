//! Every metric, and where its samples are in a status. Of what is not known there are none.

use std::collections::BTreeMap;

use super::{Metric, Number, Source, Tell};
use crate::status::{ClassStatus, FramesStatus, InterfaceStatus, PassageStatus, Status, WayStatus};

const fn metric(
    name: &'static str,
    unit: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
    source: Source,
) -> Metric {
    Metric { name, help, unit, labels, source }
}

const WAY: &[&str] = &["way"];
const CLASS: &[&str] = &["way", "class"];

/// All metrics.
pub const METRICS: &[Metric] = &[
    metric(
        "laxity_build_info",
        "",
        &["version"],
        "Laxity at work; always 1.",
        Source::Gauge(|status, tell| tell(&[&status.version], Number::Whole(1))),
    ),
    metric(
        "laxity_uptime_seconds",
        "seconds",
        &[],
        "How long it has been at work.",
        Source::Gauge(|status, tell| tell(&[], Number::Nanos(status.uptime_ns))),
    ),
    metric(
        "laxity_real_time",
        "",
        &[],
        "Whether the thread that forwards has a real-time priority.",
        Source::Gauge(|status, tell| {
            status.real_time.into_iter().for_each(|is| tell(&[], Number::Whole(is.into())));
        }),
    ),
    metric(
        "laxity_reloads",
        "",
        &["result"],
        "Plans that were read again, by whether they were followed or refused.",
        Source::Counter(|status, tell| {
            for (result, count) in
                [("followed", status.reloads), ("refused", status.reloads_refused)]
            {
                count.into_iter().for_each(|count| tell(&[result], count));
            }
        }),
    ),
    metric(
        "laxity_events_lost",
        "",
        &[],
        "Events that came too fast to be counted: all other figures are short of them.",
        Source::Counter(|status, tell| {
            status.events_lost.into_iter().for_each(|count| tell(&[], count));
        }),
    ),
    metric(
        "laxity_interface_up",
        "",
        &["interface"],
        "Whether frames pass at the interface.",
        Source::Gauge(|status, tell| {
            interfaces(status, |it| Some(Number::Whole(it.up?.into())), tell)
        }),
    ),
    metric(
        "laxity_interface_received_frames",
        "frames",
        &["interface"],
        "Frames taken in, or seen to arrive, at the interface.",
        Source::Counter(|status, tell| interfaces(status, |it| it.received, tell)),
    ),
    metric(
        "laxity_interface_sent_frames",
        "frames",
        &["interface"],
        "Frames handed to the interface, or seen to be sent there.",
        Source::Counter(|status, tell| interfaces(status, |it| it.sent, tell)),
    ),
    metric(
        "laxity_interface_lost_frames",
        "frames",
        &["interface", "reason"],
        "Frames lost at the interface, beside what schedulers drop, by reason.",
        Source::Counter(|status, tell| {
            for it in &status.interfaces {
                reasons(&it.lost, |reason, count| tell(&[&it.name, reason], count));
            }
        }),
    ),
    metric(
        "laxity_plan_info",
        "",
        &["way", "scheduler", "title"],
        "The plan that is followed; always 1.",
        Source::Gauge(|status, tell| {
            for way in &status.ways {
                let title = way.title.as_deref().unwrap_or_default();
                tell(&[&way.way, &way.scheduler, title], Number::Whole(1));
            }
        }),
    ),
    metric(
        "laxity_link_rate_bytes_per_second",
        "bytes_per_second",
        WAY,
        "The rate at which the plan sends.",
        Source::Gauge(|status, tell| ways(status, |way| Some(Number::Bits(way.rate_bps)), tell)),
    ),
    metric(
        "laxity_lateness_seconds",
        "seconds",
        WAY,
        "How late the link chose what to send, after it could have.",
        Source::Histogram(|status, tell| {
            for way in forwarded(status) {
                tell(&[&way.way], way.late.as_ref());
            }
        }),
    ),
    metric(
        "laxity_lateness_max_seconds",
        "seconds",
        WAY,
        "The largest lateness since the plan is followed.",
        Source::Gauge(|status, tell| {
            for way in forwarded(status) {
                let max = way.late.as_ref().map_or(0, |late| late.max);
                tell(&[&way.way], Number::Nanos(max));
            }
        }),
    ),
    metric(
        "laxity_broken_packets",
        "packets",
        WAY,
        "Packets sent later than their bound and all lateness before them allow; of routers those in their frames; from outside, than their bound.",
        Source::Counter(|status, tell| ways(status, |way| Some(way.broken), tell)),
    ),
    metric(
        "laxity_time_frames",
        "frames",
        &[],
        "Time frames of `tdp` that have passed since the plan is followed.",
        Source::Counter(|status, tell| frames(status, |frames| frames.passed, tell)),
    ),
    metric(
        "laxity_skipped_time_frames",
        "frames",
        &[],
        "Those in which nobody sent at some port what was to be sent.",
        Source::Counter(|status, tell| frames(status, |frames| frames.skipped, tell)),
    ),
    metric(
        "laxity_out_of_step",
        "",
        &[],
        "How often inputs of routers got out of step with the router before.",
        Source::Counter(|status, tell| frames(status, |frames| frames.out_of_step, tell)),
    ),
    metric(
        "laxity_unknown_frame_packets",
        "packets",
        &[],
        "Packets and padding that came at routers of no known time frame.",
        Source::Counter(|status, tell| frames(status, |frames| frames.unknown, tell)),
    ),
    metric(
        "laxity_class_arrived_packets",
        "packets",
        CLASS,
        "Packets that arrived.",
        Source::Counter(|status, tell| classes(status, |class| Some(class.arrived), tell)),
    ),
    metric(
        "laxity_class_sent_packets",
        "packets",
        CLASS,
        "Packets that were sent.",
        Source::Counter(|status, tell| classes(status, |class| Some(class.sent), tell)),
    ),
    metric(
        "laxity_class_sent_bytes",
        "bytes",
        CLASS,
        "Bytes of the packets sent, as the link counts them.",
        Source::Counter(|status, tell| classes(status, |class| Some(class.bytes_sent), tell)),
    ),
    metric(
        "laxity_class_dropped_packets",
        "packets",
        &["way", "class", "reason"],
        "Packets that were dropped, or did not leave, by reason; reasons that did not occur are left out.",
        Source::Counter(|status, tell| {
            for (way, class) in leaves(status) {
                reasons(&class.dropped, |reason, count| {
                    tell(&[&way.way, &class.name, reason], count);
                });
            }
        }),
    ),
    metric(
        "laxity_class_demoted_packets",
        "packets",
        CLASS,
        "Packets that broke the class's arrival curve and were demoted to best effort, of those sent or dropped.",
        Source::Counter(|status, tell| classes(status, |class| class.demoted, tell)),
    ),
    metric(
        "laxity_class_queued_packets",
        "packets",
        CLASS,
        "Packets that wait.",
        Source::Gauge(|status, tell| {
            classes(status, |class| class.queued.map(Number::Whole), tell);
        }),
    ),
    metric(
        "laxity_class_delay_seconds",
        "seconds",
        CLASS,
        "From a packet's last bit in to its last bit out; of routers at the last of them; watched, from one tap to the other.",
        Source::Histogram(|status, tell| {
            for (way, class) in leaves(status) {
                tell(&[&way.way, &class.name], class.delay_ns.as_ref());
            }
        }),
    ),
    metric(
        "laxity_class_delay_max_seconds",
        "seconds",
        CLASS,
        "The largest delay since the plan is followed.",
        Source::Gauge(|status, tell| {
            let max = |class: &ClassStatus| Some(Number::Nanos(class.delay_ns.as_ref()?.max));
            classes(status, max, tell);
        }),
    ),
    metric(
        "laxity_class_deadline_seconds",
        "seconds",
        CLASS,
        "The promised delay, of a real-time class.",
        Source::Gauge(|status, tell| {
            classes(status, |class| class.deadline_ns.map(Number::Nanos), tell);
        }),
    ),
    metric(
        "laxity_class_bound_seconds",
        "seconds",
        CLASS,
        "The delay that the admission test proves, when it does.",
        Source::Gauge(|status, tell| {
            classes(status, |class| class.bound_ns.map(Number::Nanos), tell);
        }),
    ),
    metric(
        "laxity_class_deadline_missed_packets",
        "packets",
        CLASS,
        "Packets sent later than the promised delay, without those demoted to best effort.",
        Source::Counter(|status, tell| {
            classes(status, |class| class.deadline_ns.map(|_| class.deadline_misses), tell);
        }),
    ),
    metric(
        "laxity_class_bound_missed_packets",
        "packets",
        CLASS,
        "Packets sent later than the proved delay, whether the link was late or not.",
        Source::Counter(|status, tell| {
            classes(status, |class| class.bound_ns.map(|_| class.bound_misses), tell);
        }),
    ),
    metric(
        "laxity_class_disturbed_packets",
        "packets",
        CLASS,
        "Packets that left routers after their time frame, or without one.",
        Source::Counter(|status, tell| passages(status, |passage| passage.disturbed, tell)),
    ),
    metric(
        "laxity_class_jitter_seconds",
        "seconds",
        CLASS,
        "The largest jitter through routers of packets that were in their time frames everywhere.",
        Source::Gauge(|status, tell| {
            let kept = |passage: &PassageStatus| {
                let jitter = passage.jitter_ns.as_ref()?;
                jitter.kept.map(Number::Nanos)
            };
            passages(status, kept, tell);
        }),
    ),
    metric(
        "laxity_class_nonconforming_packets",
        "packets",
        CLASS,
        "Packets that arrived and broke the class's arrival curve.",
        Source::Counter(|status, tell| classes(status, |class| Some(class.nonconforming), tell)),
    ),
    metric(
        "laxity_watched_unseen_frames",
        "frames",
        &["interface"],
        "Frames that passed the tap unseen, as they were not looked at fast enough.",
        Source::Counter(|status, tell| interfaces(status, |it| it.unseen, tell)),
    ),
    metric(
        "laxity_watched_busiest_bytes_per_second",
        "bytes_per_second",
        WAY,
        "The most that left in any 100 ms.",
        Source::Gauge(|status, tell| {
            ways(status, |way| Some(Number::Bits(way.watched?.busiest_bps as u64)), tell);
        }),
    ),
    metric(
        "laxity_watched_unclassed_packets",
        "packets",
        WAY,
        "Packets that arrived and are of no class.",
        Source::Counter(|status, tell| ways(status, |way| Some(way.watched?.unclassed), tell)),
    ),
    metric(
        "laxity_watched_unpaired_packets",
        "packets",
        WAY,
        "Packets that left and were not seen to arrive.",
        Source::Counter(|status, tell| ways(status, |way| Some(way.watched?.unpaired), tell)),
    ),
    metric(
        "laxity_watched_alike_packets",
        "packets",
        WAY,
        "Packets that left while another of the same content waited, so that it may have been that.",
        Source::Counter(|status, tell| ways(status, |way| Some(way.watched?.alike), tell)),
    ),
];

fn interfaces<T>(status: &Status, of: fn(&InterfaceStatus) -> Option<T>, tell: &mut Tell<'_, T>) {
    for it in &status.interfaces {
        of(it).into_iter().for_each(|value| tell(&[&it.name], value));
    }
}

fn ways<T>(status: &Status, of: fn(&WayStatus) -> Option<T>, tell: &mut Tell<'_, T>) {
    for way in &status.ways {
        of(way).into_iter().for_each(|value| tell(&[&way.way], value));
    }
}

/// The ways whose lateness counts: routers have frames to be late for, and from outside it is not
/// known.
fn forwarded(status: &Status) -> impl Iterator<Item = &WayStatus> {
    let is_forwarded = |way: &&WayStatus| status.network.is_none() && way.watched.is_none();
    status.ways.iter().filter(is_forwarded)
}

fn frames(status: &Status, of: fn(&FramesStatus) -> u64, tell: &mut Tell<'_, u64>) {
    let frames = status.network.as_ref().and_then(|network| network.frames.as_ref());
    frames.into_iter().for_each(|frames| tell(&[], of(frames)));
}

fn passages<T>(status: &Status, of: fn(&PassageStatus) -> Option<T>, tell: &mut Tell<'_, T>) {
    let (Some(network), Some(way)) = (&status.network, status.ways.first()) else { return };
    for passage in &network.classes {
        if let Some(value) = of(passage) {
            tell(&[&way.way, &passage.name], value);
        }
    }
}

fn classes<T>(status: &Status, of: fn(&ClassStatus) -> Option<T>, tell: &mut Tell<'_, T>) {
    for (way, class) in leaves(status) {
        if let Some(value) = of(class) {
            tell(&[&way.way, &class.name], value);
        }
    }
}

fn leaves(status: &Status) -> impl Iterator<Item = (&WayStatus, &ClassStatus)> {
    status.ways.iter().flat_map(|way| way.classes.iter().map(move |class| (way, class)))
}

fn reasons(counts: &BTreeMap<String, u64>, mut tell: impl FnMut(&str, u64)) {
    counts.iter().for_each(|(reason, count)| tell(reason, *count));
}
