//! Every metric, and where its samples are in a status. Of what is not known there are none.

use super::Metric;
use super::samples::Samples::{Any, Class, Forwarded, Frames, Interface, Passage, Way};
use super::samples::Value::{Bits, Delays, Nanos, Whole};
use super::samples::leaves;

/// All metrics.
pub const METRICS: &[Metric] = &[
    Metric::gauge(
        "laxity_build_info",
        "Laxity at work; always 1.",
        Any(&["version"], |status, tell| tell(&[&status.version], Whole(1))),
    ),
    Metric::gauge(
        "laxity_uptime_seconds",
        "How long it has been at work.",
        Any(&[], |status, tell| tell(&[], Nanos(status.uptime_ns))),
    ),
    Metric::gauge(
        "laxity_real_time",
        "Whether the thread that forwards has a real-time priority.",
        Any(&[], |status, tell| {
            status.real_time.into_iter().for_each(|is| tell(&[], Whole(is.into())))
        }),
    ),
    Metric::counter(
        "laxity_reloads",
        "Plans that were read again, by whether they were followed or refused.",
        Any(&["result"], |status, tell| {
            for (result, count) in
                [("followed", status.reloads), ("refused", status.reloads_refused)]
            {
                count.into_iter().for_each(|count| tell(&[result], Whole(count)));
            }
        }),
    ),
    Metric::counter(
        "laxity_orders",
        "Orders for reservations, by their answer: granted, done, or the reason against them.",
        Any(&["answer"], |status, tell| {
            status.orders.iter().for_each(|(answer, count)| tell(&[answer], Whole(*count)))
        }),
    ),
    Metric::gauge(
        "laxity_reservations",
        "Reservations, by where they stand: ahead, held, active, or leaving.",
        Any(&["stage"], |status, tell| {
            let stages = status.promised.iter().flat_map(|promised| &promised.stages);
            stages.for_each(|(stage, count)| tell(&[stage], Whole(*count)))
        }),
    ),
    Metric::gauge(
        "laxity_promised_bytes_per_second",
        "The long-term rates of all that is promised a delay on a link that takes reservations.",
        Any(&[], |status, tell| {
            status.promised.iter().for_each(|promised| tell(&[], Bits(promised.promised_bps)))
        }),
    ),
    Metric::gauge(
        "laxity_headroom_bytes_per_second",
        "The rate that is left beside it.",
        Any(&[], |status, tell| {
            status.promised.iter().for_each(|promised| tell(&[], Bits(promised.headroom_bps())))
        }),
    ),
    Metric::counter(
        "laxity_events_lost",
        "Events that came too fast to be counted: all other figures are short of them.",
        Any(&[], |status, tell| {
            status.events_lost.into_iter().for_each(|count| tell(&[], Whole(count)))
        }),
    ),
    Metric::counter(
        "laxity_connections_unheard",
        "How often the host's connections changed faster than was heard, so that they were read anew.",
        Any(&[], |status, tell| {
            status.connections_unheard.into_iter().for_each(|count| tell(&[], Whole(count)))
        }),
    ),
    Metric::gauge(
        "laxity_interface_up",
        "Whether frames pass at the interface.",
        Interface(|it| it.up.map(|up| Whole(up.into()))),
    ),
    Metric::counter(
        "laxity_interface_received_frames",
        "Frames taken in, or seen to arrive, at the interface.",
        Interface(|it| it.received.map(Whole)),
    ),
    Metric::counter(
        "laxity_interface_sent_frames",
        "Frames handed to the interface, or seen to be sent there.",
        Interface(|it| it.sent.map(Whole)),
    ),
    Metric::counter(
        "laxity_interface_lost_frames",
        "Frames lost at the interface, beside what schedulers drop, by reason.",
        Any(&["interface", "reason"], |status, tell| {
            for it in &status.interfaces {
                it.lost.iter().for_each(|(reason, count)| tell(&[&it.name, reason], Whole(*count)));
            }
        }),
    ),
    Metric::gauge(
        "laxity_plan_info",
        "The plan that is followed; always 1.",
        Any(&["way", "scheduler", "title"], |status, tell| {
            for way in &status.ways {
                let title = way.title.as_deref().unwrap_or_default();
                tell(&[&way.way, &way.scheduler, title], Whole(1));
            }
        }),
    ),
    Metric::gauge(
        "laxity_link_rate_bytes_per_second",
        "The rate at which the plan sends now.",
        Way(|way| Some(Bits(way.present_rate_bps()))),
    ),
    Metric::histogram(
        "laxity_lateness_seconds",
        "How late the link chose what to send, after it could have.",
        Forwarded(|way| Some(Delays(way.late.as_ref()))),
    ),
    Metric::gauge(
        "laxity_lateness_max_seconds",
        "The largest lateness since the plan is followed.",
        Forwarded(|way| Some(Nanos(way.late.as_ref().map_or(0, |late| late.max)))),
    ),
    Metric::counter(
        "laxity_broken_packets",
        "Packets sent later than their bound and all lateness before them allow; of routers those in their frames; from outside, than their bound.",
        Way(|way| Some(Whole(way.broken))),
    ),
    Metric::counter(
        "laxity_time_frames",
        "Time frames of `tdp` that have passed since the plan is followed.",
        Frames(|frames| frames.passed),
    ),
    Metric::counter(
        "laxity_skipped_time_frames",
        "Those in which nobody sent at some port what was to be sent.",
        Frames(|frames| frames.skipped),
    ),
    Metric::counter(
        "laxity_out_of_step",
        "How often inputs of routers got out of step with the router before.",
        Frames(|frames| frames.out_of_step),
    ),
    Metric::counter(
        "laxity_unknown_frame_packets",
        "Packets and padding that came at routers of no known time frame.",
        Frames(|frames| frames.unknown),
    ),
    Metric::counter(
        "laxity_class_arrived_packets",
        "Packets that arrived.",
        Class(|class| Some(Whole(class.arrived))),
    ),
    Metric::counter(
        "laxity_class_sent_packets",
        "Packets that were sent.",
        Class(|class| Some(Whole(class.sent))),
    ),
    Metric::counter(
        "laxity_class_sent_bytes",
        "Bytes of the packets sent, as the link counts them.",
        Class(|class| Some(Whole(class.bytes_sent))),
    ),
    Metric::counter(
        "laxity_class_dropped_packets",
        "Packets that were dropped, or did not leave, by reason; reasons that did not occur are left out.",
        Any(&["way", "class", "reason"], |status, tell| {
            for (way, class) in leaves(status) {
                let tell = |(reason, count): (&String, &u64)| {
                    tell(&[&way.way, &class.name, reason], Whole(*count));
                };
                class.dropped.iter().for_each(tell);
            }
        }),
    ),
    Metric::counter(
        "laxity_class_demoted_packets",
        "Packets that broke the class's arrival curve and were demoted to best effort, of those sent or dropped.",
        Class(|class| class.demoted.map(Whole)),
    ),
    Metric::gauge(
        "laxity_class_queued_packets",
        "Packets that wait.",
        Class(|class| class.queued.map(Whole)),
    ),
    Metric::histogram(
        "laxity_class_delay_seconds",
        "From a packet's last bit in to its last bit out; of routers at the last of them; watched, from one tap to the other.",
        Class(|class| Some(Delays(class.delay_ns.as_ref()))),
    ),
    Metric::gauge(
        "laxity_class_delay_max_seconds",
        "The largest delay since the plan is followed.",
        Class(|class| Some(Nanos(class.delay_ns.as_ref()?.max))),
    ),
    Metric::gauge(
        "laxity_class_deadline_seconds",
        "The promised delay, of a real-time class.",
        Class(|class| class.deadline_ns.map(Nanos)),
    ),
    Metric::gauge(
        "laxity_class_bound_seconds",
        "The delay that the admission test proves, when it does.",
        Class(|class| class.bound_ns.map(Nanos)),
    ),
    Metric::counter(
        "laxity_class_deadline_missed_packets",
        "Packets sent later than the promised delay, without those demoted to best effort.",
        Class(|class| class.deadline_ns.map(|_| Whole(class.deadline_misses))),
    ),
    Metric::counter(
        "laxity_class_bound_missed_packets",
        "Packets sent later than the proved delay, whether the link was late or not.",
        Class(|class| class.bound_ns.map(|_| Whole(class.bound_misses))),
    ),
    Metric::counter(
        "laxity_class_broken_packets",
        "Packets of those in laxity_broken_packets_total that are of the class.",
        Class(|class| class.bound_ns.map(|_| Whole(class.broken))),
    ),
    Metric::gauge(
        "laxity_class_forfeit",
        "Whether the class has forfeited its promise: it broke its arrival curve, which is only counted.",
        Class(|class| Some(Whole(class.forfeit.into()))),
    ),
    Metric::counter(
        "laxity_class_disturbed_packets",
        "Packets that left routers after their time frame, or without one.",
        Passage(|passage| passage.disturbed.map(Whole)),
    ),
    Metric::gauge(
        "laxity_class_jitter_seconds",
        "The largest jitter through routers of packets that were in their time frames everywhere.",
        Passage(|passage| passage.jitter_ns.as_ref()?.kept.map(Nanos)),
    ),
    Metric::counter(
        "laxity_class_nonconforming_packets",
        "Packets that arrived and broke the class's arrival curve.",
        Class(|class| Some(Whole(class.nonconforming))),
    ),
    Metric::counter(
        "laxity_watched_unseen_frames",
        "Frames that passed the tap unseen, as they were not looked at fast enough.",
        Interface(|it| it.unseen.map(Whole)),
    ),
    Metric::gauge(
        "laxity_watched_busiest_bytes_per_second",
        "The most that left in any 100 ms.",
        Way(|way| Some(Bits(way.watched?.busiest_bps as u64))),
    ),
    Metric::counter(
        "laxity_watched_unclassed_packets",
        "Packets that arrived and are of no class.",
        Way(|way| Some(Whole(way.watched?.unclassed))),
    ),
    Metric::counter(
        "laxity_watched_unpaired_packets",
        "Packets that left and were not seen to arrive.",
        Way(|way| Some(Whole(way.watched?.unpaired))),
    ),
    Metric::counter(
        "laxity_watched_alike_packets",
        "Packets that left while another of the same content waited, so that it may have been that.",
        Way(|way| Some(Whole(way.watched?.alike))),
    ),
];
