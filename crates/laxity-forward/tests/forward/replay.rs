//! A live run fed to the simulator gives the identical dispatches and drops.

use std::io::Cursor;
use std::ops::Range;

use laxity::packet::Ecn;
use laxity::port::Books;
use laxity::scheduler::Backlog;
use laxity::units::{Nanos, Rate};
use laxity_api::{Repetition, repeat};
use laxity_forward::ledger::Writer;
use laxity_forward::{Event, Forwarder, Frame, PreparedPlan, Settings};
use laxity_plan::discipline::Kind;
use laxity_plan::model::PlanFile;
use laxity_search::Generator;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};

use crate::world::{Caller, Drawn, any_plan, headers, maybe_found, name_of, reload};

/// A run of some plans.
pub(crate) struct Run {
    pub(crate) settings: Settings,
    pub(crate) plans: Vec<Drawn>,
    pub(crate) events: Vec<Event>,
    books: Vec<Books>,
}

/// A run of plans of real links.
pub(crate) fn run(seed: u64) -> Run {
    run_of(any_plan, seed)
}

/// A plan whose rate is known or found.
fn any_rate(draw: &mut Generator) -> Drawn {
    let drawn = any_plan(draw);
    maybe_found(drawn, draw)
}

/// A run of plans that are drawn.
pub(crate) fn run_of(any_plan: fn(&mut Generator) -> Drawn, seed: u64) -> Run {
    run_with(any_plan, false, seed)
}

/// The same, in which schedulers begin anew now and then if that `resumes`.
fn run_with(any_plan: fn(&mut Generator) -> Drawn, resumes: bool, seed: u64) -> Run {
    let mut draw = Generator::seed_from_u64(seed);
    let draw = &mut draw;
    let backlog = match draw.random_range(0..3u32) {
        0 => Backlog { packets: 12, bytes: 1 << 30 },
        1 => Backlog { packets: 1000, bytes: 20_000 },
        _ => Settings::default().backlog,
    };
    let catch_up = Nanos([0, 100_000, 1_000_000, 10_000_000][draw.random_range(0..4usize)]);
    let settings = Settings { seed, backlog, catch_up, flows: 64, ..Settings::default() };
    let mut plans = vec![any_plan(draw)];
    let mut books = Vec::new();
    let mut forwarder = Forwarder::new(plans[0].plan.clone(), settings).expect("a plan of a link");
    let mut caller = Caller::new([0, 1_000_000, 40_000_000][draw.random_range(0..3usize)]);
    let mut time = Nanos(draw.random_range(0..1_000_000_000));
    for handle in 0..draw.random_range(1..250u64) {
        let plan = forwarder.plan().clone();
        // About the time of a packet apart, or at once, or long after.
        let packet = plan.link.rate.time_for(plan.link.max_packet).0;
        time += Nanos(match draw.random_range(0..12u32) {
            0 => draw.random_range(0..=20 * packet),
            1..4 => 0,
            _ => draw.random_range(0..=packet),
        });
        caller.poll_until(&mut forwarder, time, draw);
        if draw.random_range(0..40u32) == 0 {
            let next = match draw.random_range(0..3u32) {
                0 => plans[draw.random_range(0..plans.len())].clone(),
                _ => any_plan(draw),
            };
            let events = &mut caller.events;
            let before = (forwarder.backlog(), events.len());
            match reload(&mut forwarder, time, next.plan.clone(), &mut |event| events.push(*event))
            {
                Ok(old) => {
                    books.push(old);
                    plans.push(next);
                }
                Err(_) => assert_eq!(events.len(), before.1, "a reload that is refused is none"),
            }
            assert_eq!(forwarder.backlog(), before.0, "a reload loses nothing");
            caller.now = caller.now.max(time);
        }
        if resumes && draw.random_range(0..60u32) == 0 {
            let same = PreparedPlan::new(forwarder.plan().clone(), forwarder.settings());
            let mut same = same.expect("it is followed").anew();
            let events = &mut caller.events;
            let begun = forwarder.reload(time, &mut same, &mut |event| events.push(*event));
            begun.expect("what is queued is allowed");
            books.push(same.into_books());
            caller.now = caller.now.max(time);
        }
        if draw.random_range(0..8u32) == 0 {
            let Rate(from) = plan.link.rate;
            // Beyond what the plan says, too, where it is held to that.
            let rate = Rate(draw.random_range(from / 2 + 1..=5 * from));
            let events = &mut caller.events;
            forwarder.set_rate(time, rate, &mut |event| events.push(*event));
            caller.now = caller.now.max(time);
        }
        let class = draw.random_range(0..plan.classes.len());
        let longest = plan.link.max_packet.0 as u32 + 1;
        let length = match draw.random_range(0..3u32) {
            0 => longest - draw.random_range(0..2u32),
            1 => draw.random_range(0..=longest.min(200)),
            _ => draw.random_range(1..=longest),
        };
        let headers = headers(name_of(&plan, class), draw.random_range(0..6));
        let all = [Ecn::NotCapable, Ecn::Capable, Ecn::L4s, Ecn::Experienced];
        let ecn = all[draw.random_range(0..4usize)];
        let since = Nanos(draw.random_range(0..=5 * packet));
        let arrived = draw.random::<bool>().then(|| time.saturating_sub(since));
        caller.arrive(
            &mut forwarder,
            time,
            Frame { headers, ecn, length, arrived, handle, ..Frame::default() },
        );
    }
    assert_eq!(told_as_nonconforming(&caller.events, plans.last()), forwarder.nonconforming());
    books.push(caller.drain(forwarder, draw));
    Run { settings, plans, events: caller.events, books }
}

/// How many packets of each class of the last plan were told to break its curve.
fn told_as_nonconforming(events: &[Event], plan: Option<&Drawn>) -> Vec<u64> {
    let mut counts = vec![0; plan.map_or(0, |drawn| drawn.plan.classes.len())];
    let is_reload = |event: &Event| matches!(event, Event::Reloaded { .. } | Event::Resumed { .. });
    for event in events.rsplit(is_reload).next().into_iter().flatten() {
        if let Event::Nonconforming { class, .. } = event {
            counts[class.index()] += 1;
        }
    }
    counts
}

/// The bytes of its ledger.
pub(crate) fn ledger(run: &Run) -> Vec<u8> {
    ledger_without(run, 0..0)
}

/// The same with a gap in place of these events.
fn ledger_without(run: &Run, gap: Range<usize>) -> Vec<u8> {
    let mut ledger = Writer::new(Vec::new(), run.settings.into()).expect("room in memory");
    let mut plans = run.plans.iter();
    let mut follow = |ledger: &mut Writer<Vec<u8>>| {
        let Drawn { plan, text } = plans.next().expect("as many as are followed");
        for PlanFile { key, text, .. } in &plan.files {
            ledger.file(&key.to_string(), text).expect("room in memory");
        }
        ledger.plan(text).expect("room in memory");
    };
    follow(&mut ledger);
    for (at, event) in run.events.iter().enumerate() {
        if let Event::Reloaded { .. } = event {
            follow(&mut ledger);
        }
        if gap.contains(&at) {
            continue;
        }
        if at == gap.end && !gap.is_empty() {
            ledger.gap(gap.len() as u64).expect("room in memory");
        }
        ledger.write(event).expect("room in memory");
    }
    ledger.into_inner()
}

/// Through the bytes of a ledger.
pub(crate) fn repeated(run: &Run) -> Repetition {
    repeat(Cursor::new(ledger(run))).expect("a link that was there")
}

/// What is told of a packet that was sent a nanosecond earlier, or later, or not at all, is found.
#[test]
fn a_ledger_that_tells_something_else_is_found_out() {
    let mut found = 0;
    for seed in 0..60 {
        let mut run = run_of(any_rate, seed);
        let sent = |event: &Event| matches!(event, Event::Sent(_));
        let Some(at) = run.events.iter().rposition(sent) else { continue };
        let Event::Sent(first) = &mut run.events[at] else { unreachable!("it was looked for") };
        match seed % 3 {
            0 => first.departure += Nanos(1),
            1 => first.number += 1,
            _ => first.packet.demoted ^= true,
        }
        assert!(repeated(&run).difference.is_some(), "{seed}");
        found += 1;
    }
    assert!(found > 40, "{found}");
}

/// What is before a gap and what is behind it is repeated, wherever it begins; a packet that is
/// told to have been sent a nanosecond later behind it is found.
#[test]
fn a_ledger_goes_on_after_a_gap() {
    let (mut gaps, mut queued, mut found) = (0, 0, 0);
    for seed in 0..400 {
        let mut run = run_with(any_rate, true, seed);
        let resumes = |event: &Event| matches!(event, Event::Resumed { .. });
        let Some(end) = run.events.iter().rposition(resumes) else { continue };
        let begin = (seed as usize * 7) % (end + 1);
        if begin == end {
            continue;
        }
        let gap = begin..end;
        let repeated = repeat(Cursor::new(ledger_without(&run, gap.clone()))).expect("a link");
        assert!(repeated.difference.is_none(), "{seed}: {:?}", repeated.difference);
        let [only] = &repeated.gaps[..] else { panic!("one gap: {:?}", repeated.gaps) };
        let Event::Resumed { time, queued: count, .. } = run.events[end] else { unreachable!() };
        assert_eq!((only.events, only.until_ns), (gap.len() as u64, Some(time.0)));
        let is_sent = |event: &Event| matches!(event, Event::Sent(_));
        let sent = run.events[..begin].iter().chain(&run.events[end..]);
        assert_eq!(repeated.sent, sent.filter(|event| is_sent(event)).count() as u64, "{seed}");
        (gaps, queued) = (gaps + 1, queued + count);
        let behind = run.events[end..].iter_mut().find(|event| is_sent(event));
        if let Some(Event::Sent(sent)) = behind {
            sent.departure += Nanos(1);
            let repeated = repeat(Cursor::new(ledger_without(&run, gap))).expect("a link");
            assert!(repeated.difference.is_some(), "{seed}");
            found += 1;
        }
    }
    assert!(gaps > 100 && queued > 500 && found > 80, "{gaps} {queued} {found}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// All dispatches and drops, under all disciplines and queue managements, late by up to 40 ms,
    /// across reloads.
    #[test]
    fn a_ledger_fed_to_the_simulator_gives_the_identical_fates(seed: u64) {
        let run = run_with(any_rate, true, seed);
        let repeated = repeated(&run);
        prop_assert!(repeated.difference.is_none(), "{:?}", repeated.difference);
        let count = |of: fn(&Event) -> bool| run.events.iter().filter(|event| of(event)).count() as u64;
        prop_assert_eq!(repeated.arrived, count(|event| matches!(event, Event::Arrived(_))));
        prop_assert_eq!(repeated.sent, count(|event| matches!(event, Event::Sent(_))));
        prop_assert_eq!(repeated.dropped, count(|event| matches!(event, Event::Dropped(_))));
        prop_assert_eq!(repeated.reloads + 1, run.plans.len() as u64);
    }

    /// Every packet leaves once, under the handle that it came with, and the books of every plan
    /// are right.
    #[test]
    fn nothing_is_lost_or_invented(seed: u64) {
        let run = run_of(any_rate, seed);
        let mut handles = Vec::new();
        let (mut arrived, mut kept) = (0, 0);
        for event in &run.events {
            match event {
                Event::Arrived(_) => arrived += 1,
                Event::Sent(sent) => handles.push(sent.packet.handle),
                Event::Dropped(dropped) => handles.push(dropped.packet.handle),
                Event::Kept { .. } | Event::Queued { .. } => kept += 1,
                Event::Nonconforming { .. }
                | Event::Delivered(_)
                | Event::Lost(_)
                | Event::Idle { .. }
                | Event::Rate { .. }
                | Event::Introduced { .. }
                | Event::Resumed { .. }
                | Event::Reloaded { .. } => {}
            }
        }
        handles.sort_unstable();
        prop_assert!(handles.into_iter().eq(0..arrived));
        let (last, earlier) = run.books.split_last().expect("the books of the last plan");
        let accounts = || run.books.iter().flat_map(Books::accounts);
        for account in accounts() {
            let gone = account.sent + account.dropped().iter().sum::<u64>();
            prop_assert_eq!(account.arrived, gone + account.queued);
        }
        prop_assert!(last.accounts().iter().all(|account| account.queued == 0));
        let handed: u64 = earlier.iter().flat_map(Books::accounts).map(|one| one.queued).sum();
        prop_assert_eq!(handed, kept);
        prop_assert_eq!(accounts().map(|one| one.arrived).sum::<u64>(), arrived + kept);
    }
}

/// The runs have in them what they are to try.
#[test]
fn the_runs_try_everything() {
    use std::collections::BTreeSet;
    let (mut kinds, mut reasons) = (BTreeSet::new(), BTreeSet::new());
    let (mut kept, mut demoted, mut marked) = (0, 0, 0);
    for seed in 0..400 {
        let run = run_of(any_rate, seed);
        kinds.extend(run.plans.iter().map(|drawn| drawn.plan.scheduler.kind().word()));
        let mut capable = BTreeSet::new();
        for event in &run.events {
            match event {
                Event::Arrived(arrived) if matches!(arrived.ecn, Ecn::Capable | Ecn::L4s) => {
                    capable.insert(arrived.number);
                }
                Event::Dropped(dropped) => drop(reasons.insert(dropped.reason.name())),
                Event::Kept { .. } => kept += 1,
                Event::Sent(sent) => {
                    demoted += u64::from(sent.packet.demoted);
                    let is_marked = sent.packet.ecn == Ecn::Experienced;
                    marked += u64::from(is_marked && capable.contains(&sent.number));
                }
                _ => {}
            }
        }
    }
    let of_links = Kind::ALL.iter().filter(|kind| !kind.room().is_of_networks);
    assert_eq!(kinds, of_links.map(|kind| kind.word()).collect());
    let all = [
        "choke",
        "codel",
        "contract",
        "demoted",
        "dualpi2",
        "late",
        "queue-full",
        "red",
        "too-long",
    ];
    assert!(reasons.iter().copied().eq(BTreeSet::from(all)), "{reasons:?}");
    assert!(kept > 500 && demoted > 100 && marked > 2, "{kept} {demoted} {marked}");
}
