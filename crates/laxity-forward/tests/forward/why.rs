//! Why packets of a live run were delayed, beside what its events say of them.

use std::collections::{BTreeMap, HashMap};
use std::fs;

use laxity::explain;
use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_answers::why::{Cause, PacketDelay};
use laxity_api::to_the_end;
use laxity_api::why::{Ledger, Packets, Question};
use laxity_forward::{Event, SentPacket};
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_plan::model::Class;
use proptest::prelude::*;

use crate::replay::{Run, ledger, run};

/// A cause, as the events of a run tell it, with the names of classes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    OnLink(String),
    Before(String),
    /// The link sent nothing.
    Idle,
    Transmission,
}

type Delay = BTreeMap<Told, u64>;

/// A packet that was sent: its class, when it was chosen among all events, and when its first and
/// last bits left.
struct Transmission {
    class: String,
    chosen: usize,
    start: Nanos,
    end: Nanos,
}

/// The delays of all packets that were sent, by number: every transmission, one by one.
fn naive(run: &Run) -> BTreeMap<u64, Delay> {
    let (mut plan, mut plans) = (&run.plans[0].plan, run.plans.iter().skip(1));
    let (mut arrived, mut sent): (HashMap<u64, usize>, Vec<Transmission>) = Default::default();
    let mut delays = BTreeMap::new();
    for (place, event) in run.events.iter().enumerate() {
        match *event {
            Event::Arrived(packet) => drop(arrived.insert(packet.number, place)),
            Event::Reloaded { .. } => plan = &plans.next().expect("the next plan").plan,
            Event::Sent(SentPacket { number, packet, start, departure, .. }) => {
                let free_at = sent.last().map_or(Nanos::ZERO, |last| last.end);
                let start = start.max(free_at);
                let class = plan.classes[packet.class.index()].name.clone();
                let mut delay = Delay::new();
                let mut add = |cause, time: Nanos| *delay.entry(cause).or_default() += time.0;
                let mut now = packet.arrival;
                for other in sent.iter().filter(|other| other.end > packet.arrival) {
                    add(Told::Idle, other.start.saturating_sub(now));
                    let class = other.class.clone();
                    let came_first = arrived[&number] > other.chosen;
                    let cause = if came_first { Told::OnLink } else { Told::Before };
                    add(cause(class), other.end - other.start.max(now));
                    now = other.end;
                }
                add(Told::Idle, start - now);
                add(Told::Transmission, departure - start);
                delay.retain(|_, time| *time > 0);
                delays.insert(number, delay);
                sent.push(Transmission { class, chosen: place, start, end: departure });
            }
            _ => {}
        }
    }
    delays
}

/// The delays as `laxity why` tells them.
fn explained(run: &Run) -> (Plan, Vec<PacketDelay>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.ledger");
    fs::write(&path, ledger(run)).expect("room on the disk");
    let ledger = Ledger::read(&path, &[]).expect("a ledger");
    let packets = Packets { most: usize::MAX, ..Packets::default() };
    let question = Question { packets: &packets, changes: &[], proposals: None, is_drawn: false };
    let why = ledger.why(question, &mut to_the_end).expect("a link that was there");
    (ledger.plan().clone(), why.delays.slowest)
}

fn told(plan: &Plan, delay: &PacketDelay) -> Delay {
    let mut told = Delay::new();
    let name = |class: ClassId| plan.classes[class.index()].name.clone();
    for part in &delay.hops[0].parts {
        let cause = match part.cause {
            Cause::Wait(explain::Cause::OnLink(class)) => Told::OnLink(name(class)),
            Cause::Wait(explain::Cause::Before(class, _)) => Told::Before(name(class)),
            Cause::Wait(explain::Cause::Held(_) | explain::Cause::LateChoice) => Told::Idle,
            Cause::Transmission => Told::Transmission,
            other => panic!("{other:?} on a live link"),
        };
        *told.entry(cause).or_default() += part.time.0;
    }
    told
}

fn time(delay: &PacketDelay, is_it: impl Fn(explain::Cause) -> bool) -> u64 {
    let parts = delay.hops[0].parts.iter();
    let alike = parts.filter(|part| matches!(part.cause, Cause::Wait(cause) if is_it(cause)));
    alike.map(|part| part.time.0).sum()
}

/// Whether a plan has H-FSC at its link or in a class.
fn may_hold(plan: &Plan) -> bool {
    let holds_scheduler = |class: &Class| class.inside.is_some();
    plan.scheduler.kind() == Kind::Hfsc || plan.classes.iter().any(holds_scheduler)
}

fn is_late(event: &Event) -> bool {
    match event {
        Event::Sent(SentPacket { lateness, .. }) | Event::Idle { lateness, .. } => {
            *lateness > Nanos::ZERO
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Each packet that was sent waited for what the link did meanwhile, under all disciplines,
    /// late by up to 40 ms, across reloads.
    #[test]
    fn causes_are_what_the_link_did_meanwhile(seed: u64) {
        let run = run(seed);
        let naive = naive(&run);
        let (plan, delays) = explained(&run);
        prop_assert_eq!(delays.len(), naive.len());
        for delay in &delays {
            let sum: u64 = delay.hops[0].parts.iter().map(|part| part.time.0).sum();
            prop_assert_eq!(sum, delay.delay().0);
            let number = delay.packet.handle;
            prop_assert_eq!(&told(&plan, delay), &naive[&number], "packet {}", number);
        }
    }

    /// Only H-FSC holds packets back. A link that is never woken late loses nothing.
    #[test]
    fn a_link_loses_time_only_where_it_is_late(seed: u64) {
        let run = run(seed);
        let holds = run.plans.iter().any(|drawn| may_hold(&drawn.plan));
        let is_late = run.events.iter().any(is_late);
        for delay in explained(&run).1 {
            let held = time(&delay, |cause| matches!(cause, explain::Cause::Held(_)));
            let late = time(&delay, |cause| cause == explain::Cause::LateChoice);
            prop_assert!(holds || held == 0, "{:?}", delay);
            prop_assert!(is_late || late == 0, "{:?}", delay);
        }
    }
}

/// The runs have in them what they are to try.
#[test]
fn the_runs_try_every_cause() {
    let (mut late, mut held, mut behind, mut across) = (0, 0, 0, 0);
    for seed in 0..150 {
        let run = run(seed);
        across += u64::from(run.plans.len() > 1);
        for delay in explained(&run).1 {
            late += time(&delay, |cause| cause == explain::Cause::LateChoice).min(1);
            held += time(&delay, |cause| matches!(cause, explain::Cause::Held(_))).min(1);
            behind += u64::from(delay.hops[0].start > delay.packet.arrival);
        }
    }
    assert!(
        late > 500 && held > 20 && behind > 1000 && across > 50,
        "{late} {held} {behind} {across}"
    );
}
