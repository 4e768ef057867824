//! Every packet is delayed by at most its bound and the lateness that is recorded.

use laxity::packet::Ecn;
use laxity::units::Nanos;
use laxity_adversary::arrival::Allowance;
use laxity_adversary::contract::Conduct;
use laxity_forward::{Event, Forwarder, Frame, Settings};
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_plan::model::SchedulerSpec;
use laxity_search::Generator;
use laxity_search::discipline::Discipline;
use laxity_search::edge;
use laxity_search::subject::Subject;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};

use crate::world::{Caller, Drawn, disciplines, headers, matched, on_a_link, reload, with_keys};

/// The sorts of plans of a link in which delays are bounded.
pub(crate) fn promising() -> impl Iterator<Item = Discipline> {
    let bounds_delays = |discipline: &Discipline| match discipline {
        // First come, first served bounds them over links alone, and DWCS keeps windows.
        Discipline::Kind(Kind::Fifo | Kind::Dwcs) => false,
        Discipline::Kind(_) | Discipline::Nested | Discipline::Network => true,
        // Those of plans that follow one another.
        Discipline::Reservations => false,
    };
    disciplines().into_iter().filter(bounds_delays)
}

/// Packets by class and how near they came.
#[derive(Debug, Default)]
struct Judged {
    packets: u64,
    /// Those later than their bound, for what was late.
    late: u64,
    /// Those within a hundredth of what they may be delayed.
    close: u64,
    /// Those that had arrived before they counted.
    unseen: u64,
    reloads: u64,
}

/// A plan at the edge of what is admitted, and what arrives.
pub(crate) struct Case {
    pub plan: Plan,
    pub text: String,
    /// Time, name of the class, flow, length.
    pub arrivals: Vec<(u64, u16, u16, u32)>,
}

pub(crate) fn case(discipline: Discipline, draw: &mut Generator) -> Option<Case> {
    let draft = edge::loosened(on_a_link(discipline, draw))?;
    let draft = edge::pushed(draft, draw.random_range(0..=2), draw).inside;
    let subject = Subject::new(&draft).ok()?;
    let mut text = draft.text();
    let mut arrivals = Vec::new();
    let packet = subject.plan.link.rate.time_for(subject.plan.link.max_packet).0;
    for name in subject.names() {
        let feed = subject.feed(name)?;
        let contract = &subject.contracts[feed.class];
        // Best effort may have a contract that counts under other disciplines.
        let class = &subject.plan.classes[feed.class];
        let buckets = class.arrival.as_ref().map(|arrival| arrival.buckets.clone());
        let contracted = match (&contract.conduct, buckets) {
            (Conduct::Free, Some(buckets)) => Conduct::Keeps(buckets),
            (conduct, _) => conduct.clone(),
        };
        let longest = match &contracted {
            Conduct::Keeps(buckets) => {
                let least = buckets.iter().map(|line| line.bucket.0).min();
                u64::from(contract.longest).min(least.unwrap_or(u64::MAX)) as u32
            }
            Conduct::InStep { .. } | Conduct::Free => contract.longest,
        };
        let is_kept = matches!(contracted, Conduct::Keeps(_));
        let is_policed = is_kept && draw.random_range(0..4u32) == 0;
        if is_policed {
            text = with_keys(&text, name, "police = \"drop\"\n");
        }
        let conduct = if is_policed { &Conduct::Free } else { &contracted };
        let mut allowance = Allowance::new(conduct);
        let streams = match conduct {
            Conduct::InStep { streams, .. } => *streams as u16,
            Conduct::Keeps(_) | Conduct::Free => 3,
        };
        let mut wanted = draw.random_range(0..=4 * packet) + 1;
        // As fast as the contract lets it, or with pauses.
        let pause = [0, packet / 2, 30 * packet][draw.random_range(0..3usize)];
        let shortest = contract.shortest.max(if draw.random() { longest } else { 1 });
        for number in 0..draw.random_range(1..80u16) {
            let (flow, length) = (number % streams, draw.random_range(shortest..=longest));
            wanted = allowance.grant(wanted, flow, length);
            arrivals.push((wanted, name, flow, length));
            wanted += draw.random_range(0..=pause);
        }
    }
    arrivals.sort_by_key(|(time, ..)| *time);
    let Drawn { plan, text } = matched(&draft, &text)?;
    Some(Case { plan, text, arrivals })
}

/// The same contracts under another discipline.
fn another(plan: &Plan, draw: &mut Generator) -> Plan {
    match draw.random_range(0..2u32) {
        0 => plan.clone(),
        _ if plan.has_inner_schedulers() => plan.clone(),
        _ => {
            let others: Vec<_> = SchedulerSpec::defaults().collect();
            Plan { scheduler: others[draw.random_range(0..others.len())], ..plan.clone() }
        }
    }
}

fn judge(seed: u64, discipline: Discipline, latest: u64, judged: &mut Judged) {
    let mut draw = Generator::seed_from_u64(seed);
    let draw = &mut draw;
    let Some(Case { plan, arrivals, .. }) = case(discipline, draw) else { return };
    let catch_up = Nanos([0, 300_000, 1_000_000][draw.random_range(0..3usize)]);
    let settings = Settings { catch_up, ..Settings::default() };
    let mut forwarder = Forwarder::new(plan.clone(), settings).expect("a plan of a link");
    let mut caller = Caller::new(latest);
    let mut followed = vec![plan.clone()];
    for (handle, &(arrived, name, flow, length)) in (0..).zip(&arrivals) {
        // Now and then the link goes on before what has arrived is taken in.
        let is_unseen = latest > 0 && draw.random_range(0..12u32) == 0;
        let unseen = if is_unseen { caller.lateness(draw) } else { 0 };
        let time = caller.now.0.max(arrived + unseen);
        caller.poll_until(&mut forwarder, Nanos(time), draw);
        if draw.random_range(0..60u32) == 0 {
            let next = another(&plan, draw);
            let events = &mut caller.events;
            let time = Nanos(time);
            let done = reload(&mut forwarder, time, next.clone(), &mut |event| events.push(*event));
            done.expect("the packets of the same classes");
            caller.now = caller.now.max(time);
            followed.push(next);
            judged.reloads += 1;
        }
        let (headers, ecn, arrived) = (headers(name, flow), Ecn::NotCapable, Some(Nanos(arrived)));
        let frame = Frame { headers, ecn, length, arrived, handle, ..Frame::default() };
        caller.arrive(&mut forwarder, Nanos(time), frame);
    }
    caller.drain(forwarder, draw);
    let lost = Nanos(1_000_000);
    let grows = plan.growths().iter().any(|growth| growth.delay_for(lost) != lost);
    if followed.len() == 1 && !grows {
        allowances_are_what_was_late(&caller.events);
    }
    let mut plans = followed.iter();
    let mut bounds = plans.next().expect("the first plan").bounds();
    for event in &caller.events {
        match event {
            Event::Sent(sent) => {
                let Ok(bound) = bounds[sent.packet.class.index()] else { continue };
                let (delay, allowed) = (sent.delay(), bound.saturating_add(sent.late()));
                judged.unseen += u64::from(sent.packet.arrival > sent.arrived);
                assert!(sent.keeps(bound), "{discipline:?} {seed}: bound {bound:?}, {sent:?}");
                judged.packets += 1;
                judged.late += u64::from(delay > bound);
                judged.close += u64::from(delay.0 >= allowed.0 - allowed.0 / 100);
            }
            Event::Reloaded { .. } => {
                bounds = plans.next().expect("a plan for every reload").bounds();
            }
            _ => {}
        }
    }
}

/// What is allowed is no more than the sum of what was late since the link was idle, and a
/// nanosecond for each time.
fn allowances_are_what_was_late(events: &[Event]) {
    let (mut queued, mut line_is_free, mut late) = (0u64, Nanos(0), 0);
    for event in events {
        match event {
            Event::Arrived(arrived) => {
                if queued == 0 && line_is_free <= arrived.arrived {
                    late = 0;
                }
                late += arrived.time.0 - arrived.arrived.0 + 1;
                queued += 1;
            }
            Event::Sent(sent) => {
                late += sent.lateness.0 + 1;
                assert!(sent.allowance.0 <= late, "{late}: {sent:?}");
                (queued, line_is_free) = (queued - 1, sent.departure);
            }
            Event::Dropped(_) => queued -= 1,
            Event::Nonconforming { .. }
            | Event::Delivered(_)
            | Event::Lost(_)
            | Event::Idle { .. }
            | Event::Rate { .. }
            | Event::Reloaded { .. }
            | Event::Introduced { .. }
            | Event::Resumed { .. }
            | Event::Queued { .. }
            | Event::Kept { .. } => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    /// No packet is an exception, whatever the discipline and the lateness of the caller.
    ///
    /// Plans are near the edge of admission, and some runs reload them.
    #[test]
    fn no_packet_is_later_than_its_bound_and_what_was_late(seed: u64) {
        for discipline in promising() {
            judge(seed, discipline, 30_000_000, &mut Judged::default());
        }
    }

    /// Who is never late keeps the bounds themselves.
    #[test]
    fn who_is_never_late_allows_nothing(seed: u64) {
        for discipline in disciplines() {
            let mut draw = Generator::seed_from_u64(seed);
            let Some(Case { plan, arrivals, .. }) = case(discipline, &mut draw) else { continue };
            let mut forwarder = Forwarder::new(plan, Settings::default()).expect("a plan of a link");
            let mut caller = Caller::new(0);
            for (handle, &(time, name, flow, length)) in (0..).zip(&arrivals) {
                caller.poll_until(&mut forwarder, Nanos(time), &mut draw);
                let (headers, ecn) = (headers(name, flow), Ecn::NotCapable);
                let frame = Frame { headers, ecn, length, handle, ..Frame::default() };
                caller.arrive(&mut forwarder, Nanos(time), frame);
            }
            caller.drain(forwarder, &mut draw);
            for event in &caller.events {
                if let Event::Sent(sent) = event {
                    prop_assert_eq!((sent.lateness, sent.allowance), (Nanos(0), Nanos(0)));
                }
            }
        }
    }
}

/// Enough packets have a bound, and some keep it only with their allowance.
#[test]
fn the_judge_has_something_to_judge() {
    for discipline in promising() {
        let mut judged = Judged::default();
        (0..40).for_each(|seed| judge(seed, discipline, 30_000_000, &mut judged));
        println!("{discipline:?} {judged:?}");
        let Judged { packets, late, unseen, .. } = judged;
        assert!(packets > 500 && late > 0 && unseen > 50, "{discipline:?}: {judged:?}");
    }
}
