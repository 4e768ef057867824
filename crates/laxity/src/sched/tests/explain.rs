//! The waits of packets add up, under every discipline.

use std::boxed::Box;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::vec::Vec;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::conformance::{Any, Bench, all};
use super::*;
use crate::explain::{Cause, Part, Rule, Wait, Witness};
use crate::packet::{AckTag, Ecn};
use crate::scheduler::{Backlog, Dispatch, DropSink};

/// What was asked of a scheduler, and what came of it.
#[derive(Clone, Copy, Debug)]
struct Choice {
    time: Nanos,
    sent: Option<Packet>,
}

/// A scheduler whose choices are listed.
struct Listed {
    scheduler: Any,
    choices: Arc<Mutex<Vec<Choice>>>,
}

impl Scheduler for Listed {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.scheduler.enqueue(now, packet, drops);
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let chosen = self.scheduler.dequeue(now, drops);
        let sent = chosen.map(|chosen| chosen.packet);
        self.choices.lock().unwrap().push(Choice { time: now, sent });
        chosen
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.scheduler.next_ready(now)
    }

    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        self.scheduler.has_room(packet, ahead)
    }

    fn backlog(&self) -> Backlog {
        self.scheduler.backlog()
    }

    fn footprint(&self) -> usize {
        self.scheduler.footprint()
    }
}

/// The parts of a wait without their rules, by definition: what was chosen before the packet's
/// arrival until the next choice, and every choice from there on until the packet's own.
fn naive(
    choices: &[Choice],
    packet: &Packet,
    arrived_after: usize,
) -> BTreeMap<Option<ClassId>, u64> {
    let own = choices
        .iter()
        .position(|choice| choice.sent.is_some_and(|sent| sent.handle == packet.handle));
    let own = own.unwrap();
    let mut parts = BTreeMap::new();
    let mut from = packet.arrival;
    let mut sent = arrived_after.checked_sub(1).and_then(|last| choices[last].sent);
    for choice in &choices[arrived_after..=own] {
        *parts.entry(sent.map(|sent| sent.class)).or_default() += (choice.time - from).0;
        (from, sent) = (choice.time, choice.sent);
    }
    parts.retain(|_, time| *time > 0);
    parts
}

/// Drives a scheduler behind a witness, and holds every wait to the definition. Returns the rules
/// that were met.
fn confirm(name: &str, scheduler: Any, arrivals: &[Arrival]) -> Vec<Rule> {
    let waits = Arc::new(Mutex::new(Vec::new()));
    let choices = Arc::new(Mutex::new(Vec::new()));
    let heard = waits.clone();
    let witness = Witness::new(scheduler, move |wait: Wait<'_>| {
        heard.lock().unwrap().push((*wait.packet, wait.end, wait.parts.to_vec()));
    });
    let scheduler = Box::new(Listed { scheduler: Box::new(witness), choices: choices.clone() });
    let mut bench = Bench::new(scheduler);
    let mut now = Nanos::ZERO;
    let mut before = Vec::new();
    for (handle, arrival) in (0..).zip(arrivals) {
        bench.send_until(now, arrival.time);
        now = arrival.time;
        let Arrival { class, length, demoted, .. } = *arrival;
        before.push(choices.lock().unwrap().len());
        let flow = FlowId(handle as u32 % 5);
        // Marked from the start, so that no queue marks it.
        let ecn = if handle % 3 == 0 { Ecn::Experienced } else { Ecn::NotCapable };
        let class = ClassId(class);
        let arrival = now;
        let ack = AckTag::NONE;
        let packet = Packet { class, flow, length, demoted, ecn, ack, arrival, handle };
        bench.enqueue(now, packet);
    }
    bench.send_until(now, Nanos::MAX);
    let (waits, choices) = (waits.lock().unwrap(), choices.lock().unwrap());
    assert_eq!(
        waits.len(),
        choices.iter().filter(|choice| choice.sent.is_some()).count(),
        "{name}"
    );
    let mut rules = Vec::new();
    for (packet, end, parts) in waits.iter() {
        let total: u64 = parts.iter().map(|part| part.time.0).sum();
        assert_eq!(total, (*end - packet.arrival).0, "{name}: {packet:?} {parts:?}");
        let mut by_class = BTreeMap::new();
        for Part { cause, time } in parts {
            let class = match cause {
                Cause::OnLink(class) | Cause::Before(class, _) => Some(*class),
                Cause::SlowLink | Cause::LateChoice | Cause::Held(_) => None,
            };
            *by_class.entry(class).or_default() += time.0;
            if let Cause::Before(_, rule) | Cause::Held(rule) = cause {
                rules.push(*rule);
            }
        }
        let arrived_after = before[packet.handle as usize];
        assert_eq!(
            by_class,
            naive(&choices, packet, arrived_after),
            "{name}: {packet:?} {parts:?}"
        );
    }
    rules
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    /// Parts of waits are those of the definition, alone, behind limits and behind queue
    /// managements.
    #[test]
    fn waits_add_up(arrivals in traffic()) {
        for (name, scheduler) in all() {
            confirm(name, scheduler, &arrivals);
        }
    }
}

/// Every discipline says by which rules packets wait, and none is the scheduler's own affair.
#[test]
fn every_discipline_explains_itself() {
    let mut runner = TestRunner::deterministic();
    let mut met = BTreeMap::<&str, std::collections::BTreeSet<Rule>>::new();
    for _ in 0..40 {
        let arrivals = arrivals(CLASSES, 40..=1500, 1, 600_000, 120);
        let arrivals = arrivals.new_tree(&mut runner).unwrap().current();
        for (name, scheduler) in all() {
            met.entry(name).or_default().extend(confirm(name, scheduler, &arrivals));
        }
    }
    for (name, rules) in &met {
        assert!(rules.len() > usize::from(*name != "fifo"), "{name}: {rules:?}");
        assert!(!rules.contains(&Rule::Scheduler), "{name}: {rules:?}");
    }
}

proptest! {
    /// Under EDF the packet that is due earlier goes first, and best effort without deadlines waits
    /// for all that have one.
    #[test]
    fn edf_says_what_its_definition_does(arrivals in traffic()) {
        let mut edf = edf(BestEffort::by_arrival(Assign::Background));
        let relative = [Some(Nanos(3_000_000)), Some(Nanos(9_000_000)), None, None];
        let due = |packet: &Packet| {
            let relative = relative[packet.class.index()].filter(|_| !packet.demoted)?;
            Some(packet.arrival + relative)
        };
        let mut drops = |packet: Packet, _: DropReason| panic!("{packet:?} is dropped");
        let mut queued = Vec::new();
        for (handle, Arrival { time, class, length, demoted, .. }) in (0..).zip(arrivals) {
            let class = ClassId(class);
            let packet = Packet { class, length, demoted, arrival: time, handle, ..Packet::default() };
            edf.enqueue(time, packet, &mut drops);
            queued.push(packet);
            if handle % 3 > 0 {
                continue;
            }
            let sent = edf.dequeue(time, &mut drops).unwrap();
            queued.retain(|packet| packet.handle != sent.packet.handle);
            let explain = edf.explain().unwrap();
            for packet in &queued {
                let rule = match (due(&sent.packet), due(packet)) {
                    _ if explain.queue(packet) == explain.queue(&sent.packet) => continue,
                    (Some(_), None) => Rule::BestEffort,
                    (sent, waits) if sent == waits => Rule::ArrivalOrder,
                    _ => Rule::EarlierDeadline,
                };
                prop_assert_eq!(explain.precedence(time, &sent, packet), rule);
            }
        }
    }
}
