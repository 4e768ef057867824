//! Links whose wires are emulated: repeated by the simulator, and beside a naive wire.

use std::collections::{BTreeMap, BTreeSet};

use laxity::packet::Ecn;
use laxity::units::Nanos;
use laxity_forward::{Event, Forwarder, Frame, LossCause, Settings};
use laxity_plan::Plan;
use laxity_plan::matching::Headers;
use laxity_plan::wire::{Arrivals, Wire};
use proptest::prelude::*;

use crate::replay::{Run, repeated, run_of};
use crate::world::emulated_plan;

/// When packets and their copies are due by the plans, drawn packet by packet; nothing of those
/// that are lost by chance.
fn naive(run: &Run) -> BTreeMap<u64, BTreeSet<(Nanos, bool)>> {
    let mut plans = run.plans.iter().map(|drawn| &drawn.plan);
    let draws = |plan: &Plan| {
        plan.link.wire.map(|spec| (spec.delay, Wire::drawing(&spec, run.settings.seed, 0)))
    };
    let mut wire = draws(plans.next().expect("the first"));
    let mut due = BTreeMap::new();
    for event in &run.events {
        match event {
            Event::Reloaded { .. } => {
                let mut next = draws(plans.next().expect("the next"));
                if let (Some((_, next)), Some((_, before))) = (&mut next, &wire) {
                    next.follow(before);
                }
                wire = next;
            }
            Event::Sent(sent) => {
                assert_eq!(sent.is_under_way, wire.is_some());
                let Some((delay, wire)) = &mut wire else { continue };
                if let Some(Arrivals { first, copy }) = wire.next(sent.departure + *delay) {
                    let both = [Some((first, false)), copy.map(|copy| (copy, true))];
                    due.insert(sent.number, both.into_iter().flatten().collect());
                }
            }
            _ => {}
        }
    }
    due
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// All dispatches, drops, losses, copies and times of delivery, under all disciplines, rates
    /// that change, and wires that are changed by reloads.
    #[test]
    fn an_emulated_link_is_repeated_by_the_simulator(seed: u64) {
        let run = run_of(emulated_plan, seed);
        let repeated = repeated(&run);
        prop_assert!(repeated.difference.is_none(), "{:?}", repeated.difference);
        let count = |of: fn(&Event) -> bool| run.events.iter().filter(|event| of(event)).count() as u64;
        let wire = repeated.wire.unwrap_or_default();
        prop_assert_eq!(wire.delivered, count(|event| matches!(event, Event::Delivered(_))));
        prop_assert_eq!(wire.lost, count(|event| matches!(event, Event::Lost(_))));
        prop_assert_eq!(repeated.sent, count(|event| matches!(event, Event::Sent(_))));
    }

    /// Each packet comes out when it is due or, if the thread is late then, at its next wake-up; in
    /// the order in which packets are due; and its buffer is needed as long as one is under way.
    #[test]
    fn packets_come_out_when_the_wire_says(seed: u64) {
        let run = run_of(emulated_plan, seed);
        let mut due = naive(&run);
        let mut last = Nanos::ZERO;
        for event in &run.events {
            match event {
                Event::Delivered(delivered) => {
                    let packet = due.get_mut(&delivered.number).expect("it is under way");
                    prop_assert_eq!(packet.pop_first(), Some((delivered.due, delivered.is_copy)));
                    prop_assert_eq!(delivered.is_needed, !packet.is_empty());
                    prop_assert!(delivered.time >= delivered.due.max(last));
                    last = delivered.time;
                }
                Event::Lost(lost) => {
                    prop_assert_eq!(lost.cause, LossCause::Chance);
                    prop_assert!(!due.contains_key(&lost.number));
                }
                _ => {}
            }
        }
        prop_assert!(due.values().all(BTreeSet::is_empty), "all come out in the end");
    }

    /// No packet leaves an emulated link before it could have, and being late costs it nothing but
    /// the time until it is chosen.
    #[test]
    fn an_emulated_link_is_as_fast_as_its_rate(seed: u64) {
        let run = run_of(emulated_plan, seed);
        let (mut plan, mut plans) = (&run.plans[0].plan, run.plans.iter().skip(1));
        let mut last = Nanos::ZERO;
        for event in &run.events {
            match event {
                Event::Reloaded { .. } => plan = &plans.next().expect("the next plan").plan,
                Event::Sent(sent) => {
                    let from = |time: Nanos, length| {
                        plan.link.transmitter().transmit(time.max(last), length)
                    };
                    let length = sent.packet.length;
                    // What is left of a nanosecond, less than a byte, counts for the next one.
                    let soonest = from(sent.packet.arrival, length.saturating_sub(1));
                    let latest = from(sent.start, length);
                    prop_assert!((soonest..=latest).contains(&sent.departure), "{:?}", sent);
                    last = sent.departure;
                }
                _ => {}
            }
        }
    }
}

/// The runs have in them what they are to try.
#[test]
fn the_runs_try_all_of_a_wire() {
    let (mut lost, mut copies, mut delivered, mut late, mut changed) = (0, 0, 0, 0, 0);
    for seed in 0..200 {
        let run = run_of(emulated_plan, seed);
        changed += u64::from(run.plans.len() > 1);
        for event in &run.events {
            match event {
                Event::Lost(_) => lost += 1,
                Event::Delivered(packet) => {
                    delivered += 1;
                    copies += u64::from(packet.is_copy);
                    late += u64::from(packet.lateness() > Nanos::ZERO);
                }
                _ => {}
            }
        }
    }
    assert!(
        lost > 1000 && copies > 500 && delivered > 8000 && late > 1000 && changed > 50,
        "{lost} {copies} {delivered} {late} {changed}"
    );
}

/// Mahimahi's `mm-link` (Netravali et al. 2015) sends 1500 bytes at each line's millisecond. A full
/// link sends its n-th packet of 1500 bytes within the millisecond that ends there.
#[test]
fn a_full_link_sends_what_mahimahi_sends() {
    let lines = [0, 1, 1, 1, 5, 6, 6, 20, 21, 21, 21, 21, 30u64];
    let trace: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let text = "version = 1\nlink = { rate = '1mbit', rate-trace = 'up', delay = '7ms' }\n\
                scheduler.kind = 'fifo'\nclass.all = {}\n";
    let files = BTreeMap::from([("link.rate-trace".to_string(), trace)]);
    let plan = Plan::parse_with(text, "plan.toml", &files, &[]).expect("a plan");
    let mut forwarder = Forwarder::new(plan, Settings::default()).expect("a plan of a link");
    let mut delivered = Vec::new();
    for handle in 0..40 {
        let frame = Frame {
            headers: Headers::default(),
            ecn: Ecn::NotCapable,
            length: 1500,
            handle,
            ..Frame::default()
        };
        forwarder.arrive(Nanos::ZERO, frame, &mut |_| ());
    }
    let mut now = Some(Nanos::ZERO);
    while let Some(time) = now {
        now = forwarder.poll(time, &mut |event| {
            if let Event::Delivered(packet) = event {
                delivered.push(packet.time.0 - 7_000_000);
            }
        });
    }
    let period = lines[lines.len() - 1];
    // What comes at 0 comes at the end of the period before.
    let mut opportunities =
        (0..4).flat_map(|round| lines.map(|line| round * period + line)).skip(1);
    assert_eq!(delivered.len(), 40);
    for time in delivered {
        let millisecond = opportunities.next().expect("enough of them") * 1_000_000;
        assert!(time > millisecond - 1_000_000 && time <= millisecond, "{time} by {millisecond}");
    }
}
