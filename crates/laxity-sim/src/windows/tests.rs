//! Windows against a count that remembers everything.

use std::path::Path;

use laxity::packet::FlowId;
use laxity::window::Loss;
use laxity_plan::discipline::Kind;
use proptest::prelude::*;

use super::*;

const MS: u64 = 1_000_000;

fn plan(class: &str) -> Plan {
    let text = format!(
        "version = 1\nlink.rate = '8mbit'\nscheduler.kind = 'fifo'\nclass.quiet = {{}}\n[class.watched]\n{class}"
    );
    Plan::parse_for(&text, "test.toml", Path::new("."), Kind::ALL)
        .unwrap_or_else(|error| panic!("{error:?}"))
}

fn packet(handle: u64, flow: u32, arrival: Nanos) -> Packet {
    Packet {
        class: ClassId(1),
        flow: FlowId(flow),
        length: 100,
        arrival,
        handle,
        ..Packet::default()
    }
}

/// What becomes of a packet: begun so long after its arrival, or dropped.
type Outcome = Result<Nanos, DropReason>;

/// The definition, for one stream, with nothing forgotten.
fn expected(loss: Loss, gap: Nanos, packets: &[(Nanos, Outcome)], from: Nanos) -> ClassWindows {
    let mut due: Option<Nanos> = None;
    let (mut outcomes, mut deadline_misses) = (Vec::new(), 0);
    for &(arrival, outcome) in packets {
        let mut deadline = due.map_or(arrival, |due| due.max(arrival)) + gap;
        let mut missed = u64::from(outcome == Err(DropReason::Late));
        let mut is_lost = outcome.is_err();
        while outcome.is_ok_and(|wait| arrival + wait > deadline) {
            (deadline, missed, is_lost) = (deadline + gap, missed + 1, true);
        }
        due = Some(deadline);
        outcomes.push(is_lost);
        if arrival >= from {
            deadline_misses += missed;
        }
    }
    let measured = packets.iter().position(|(arrival, _)| *arrival >= from);
    let measured = measured.unwrap_or(packets.len());
    let lost = |packets: &[bool]| packets.iter().filter(|lost| **lost).count() as u64;
    // By the number of the packet that completes each.
    let windows = (loss.window() as usize..).zip(outcomes.windows(loss.window() as usize));
    let windows: Vec<_> = windows.filter(|(end, _)| *end > measured).collect();
    let apart: Vec<_> =
        windows.iter().filter(|(end, _)| end % loss.window() as usize == 0).collect();
    let is_violated = |window: &[bool]| lost(window) > loss.lost().into();
    let runs = outcomes[measured..].split(|lost| !lost).map(|run| run.len() as u64);
    let counts = Counts {
        packets: (outcomes.len() - measured) as u64,
        lost: lost(&outcomes[measured..]),
        windows: windows.len() as u64,
        violations: windows.iter().filter(|(_, window)| is_violated(window)).count() as u64,
        longest_run: runs.max().unwrap_or(0),
    };
    let consecutive = Consecutive {
        windows: apart.len() as u64,
        violations: apart.iter().filter(|(_, window)| is_violated(window)).count() as u64,
    };
    ClassWindows { counts, consecutive, deadline_misses }
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        4 => (0..60 * MS).prop_map(|wait| Ok(Nanos(wait))),
        1 => Just(Err(DropReason::QueueFull)),
        1 => Just(Err(DropReason::Late)),
    ]
}

proptest! {
    /// Several streams of a class, and fates in any order that a scheduler could decide them.
    #[test]
    fn agrees_with_the_definition_in_any_order_of_fates(
        packets in prop::collection::vec((0..3u32, 0..20 * MS, outcomes(), any::<u32>()), 0..200),
        (lost, of) in (0..4u32, 4..20u32), warm_up in 0..500 * MS,
    ) {
        let text = format!("gap = '10ms'\nloss = '{lost}/{of}'\ncount = 3\n");
        let mut plan = plan(&text);
        plan.run.warm_up = Nanos(warm_up);
        let mut windows = Windows::new(&plan);
        let (mut now, mut streams) = (Nanos::ZERO, [const { Vec::new() }; 3]);
        let mut fates = Vec::new();
        for (handle, (flow, pause, outcome, place)) in (0..).zip(packets) {
            now += Nanos(pause);
            // Flow 3 is stream 0 again.
            let packet = packet(handle, if handle % 2 == 0 { flow } else { flow + 3 }, now);
            streams[flow as usize].push((now, outcome));
            windows.arrived(&packet);
            fates.push((place % 8, packet, outcome));
            // Some wait, so that later ones are decided before them.
            for (_, packet, outcome) in fates.extract_if(.., |(place, ..)| *place < 3) {
                settle(&mut windows, &packet, outcome);
            }
        }
        fates.sort_by_key(|(place, packet, _)| (*place, packet.handle));
        for (_, packet, outcome) in fates {
            settle(&mut windows, &packet, outcome);
        }
        let loss = Loss::new(lost, of).unwrap();
        let parts = streams.map(|stream| expected(loss, Nanos(10 * MS), &stream, Nanos(warm_up)));
        let sum = |part: fn(&ClassWindows) -> u64| parts.iter().map(part).sum::<u64>();
        let found = windows.class(ClassId(1)).unwrap();
        prop_assert_eq!(found.counts.packets, sum(|part| part.counts.packets));
        prop_assert_eq!(found.counts.lost, sum(|part| part.counts.lost));
        prop_assert_eq!(found.counts.windows, sum(|part| part.counts.windows));
        prop_assert_eq!(found.counts.violations, sum(|part| part.counts.violations));
        prop_assert_eq!(found.consecutive.windows, sum(|part| part.consecutive.windows));
        prop_assert_eq!(found.consecutive.violations, sum(|part| part.consecutive.violations));
        prop_assert_eq!(found.deadline_misses, sum(|part| part.deadline_misses));
        let longest = parts.iter().map(|part| part.counts.longest_run).max();
        prop_assert_eq!(Some(found.counts.longest_run), longest);
    }
}

fn settle(windows: &mut Windows, packet: &Packet, outcome: Outcome) {
    match outcome {
        Ok(wait) => {
            let start = packet.arrival + wait;
            windows.sent(packet, start, start + Nanos(100_000));
        }
        Err(reason) => windows.dropped(packet, reason),
    }
}

#[test]
fn a_deadline_alone_says_what_is_late() {
    let contract = "arrival = { bucket = '3kB', rate = '1mbit' }";
    let plan = plan(&format!("deadline = '5ms'\n{contract}\nloss = '1/3'"));
    let mut windows = Windows::new(&plan);
    for (handle, took, demoted) in [(0, 5, false), (1, 6, false), (2, 6, true), (3, 6, false)] {
        let packet = Packet { demoted, ..packet(handle, 0, Nanos(handle * 20 * MS)) };
        windows.arrived(&packet);
        windows.sent(&packet, packet.arrival, packet.arrival + Nanos(took * MS));
    }
    let found = windows.class(ClassId(1)).unwrap();
    let Counts { packets, lost, windows, violations, longest_run, .. } = found.counts;
    assert_eq!((packets, lost, windows, violations, longest_run), (4, 2, 2, 1, 1));
    assert_eq!(found.deadline_misses, 2);
}

#[test]
fn streams_are_in_step_when_their_deadlines_fall_together() {
    let plan = plan("gap = '10ms'\nloss = '1/3'\ncount = 2");
    let in_step = |arrivals: &[(u32, u64)]| {
        let mut windows = Windows::new(&plan);
        for (handle, &(flow, at)) in (0..).zip(arrivals) {
            let packet = packet(handle, flow, Nanos(at * MS));
            windows.arrived(&packet);
            windows.sent(&packet, packet.arrival, packet.arrival);
        }
        windows.are_in_step()
    };
    assert!(in_step(&[(0, 3), (1, 3), (0, 4), (1, 13), (0, 20), (0, 33)]));
    assert!(in_step(&[(0, 3), (1, 23), (0, 7)]));
    // Stream 0 is due at 13 ms and has nothing then.
    assert!(!in_step(&[(0, 3), (1, 3), (0, 14)]));
    assert!(!in_step(&[(0, 3), (1, 4)]));
    assert!(!in_step(&[]));
}

#[test]
fn classes_without_a_tolerance_are_not_watched() {
    let plan = plan("gap = '5ms'\ncount = 7");
    let mut windows = Windows::new(&plan);
    windows.arrived(&packet(0, 0, Nanos::ZERO));
    windows.sent(&packet(0, 0, Nanos::ZERO), Nanos(1), Nanos(2));
    assert_eq!(windows.class(ClassId(1)), None);
}

#[test]
fn gaps_and_times_without_end_overflow_nothing() {
    let mut plan = plan("gap = '1ns'\nloss = '1/3'");
    for gap in [1, Nanos::LIMIT.0] {
        plan.classes[1].gap = Some(Nanos(gap));
        let mut windows = Windows::new(&plan);
        for handle in 0..40 {
            let packet = packet(handle, u32::MAX, Nanos(handle));
            windows.arrived(&packet);
            match handle % 2 {
                0 => windows.dropped(&packet, DropReason::QueueFull),
                _ => windows.sent(&packet, Nanos(Nanos::LIMIT.0 * 15), Nanos::MAX),
            }
        }
        assert_eq!(windows.class(ClassId(1)).unwrap().counts.packets, 40);
    }
}
