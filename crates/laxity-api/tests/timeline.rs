//! The timeline of a run holds what an observer of the same run sees.

use std::ops::ControlFlow;
use std::path::Path;

use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_api::{Plan, Traffic, run, run_explained};
use laxity_plan::model::Hop;
use laxity_sim::record::{Fate, Observer, Record};

/// Everything that is observed.
#[derive(Default, PartialEq)]
struct Diary(Vec<Record>);

impl Observer for Diary {
    fn record(&mut self, record: &Record) {
        self.0.push(*record);
    }
}

type Row = (Option<Hop>, [Nanos; 3], u32, u32);
type Drop = (Option<Hop>, Nanos, u32, u32, Option<DropReason>);

#[test]
fn timelines_of_the_examples_hold_every_record() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let (mut plans, mut whole, mut drops) = (0, 0, 0);
    for file in std::fs::read_dir(examples).unwrap() {
        let path = file.unwrap().path();
        let Ok(plan) = Plan::read(&path) else { continue };
        if plan.sources.is_empty() || plan.sources.len() > 100 {
            continue;
        }
        let name = path.display().to_string();
        let duration = Some(plan.run.warm_up + Nanos(200_000_000));
        let traffic = Traffic { duration, ..Traffic::default() };
        let (mut plain, mut diary) = (Diary::default(), Diary::default());
        let mut progress = |_| ControlFlow::Continue(());
        let without = run(&plan, &traffic, &mut plain, &mut progress).unwrap();
        let with = run_explained(&plan, &traffic, &mut diary, &mut progress).unwrap();
        assert!(plain == diary, "{name}");
        assert_eq!(
            serde_json::to_value(&without).unwrap(),
            serde_json::to_value(&with).unwrap(),
            "{name}"
        );
        let timeline = with.explanation.unwrap().timeline;

        let hop = |output: u32| timeline.outputs[output as usize];
        let mut rows: Vec<Row> = timeline
            .passages
            .iter()
            .map(|it| {
                let times = [it.arrival, it.start, it.departure];
                (hop(it.output), times, it.class.0, it.length)
            })
            .collect();
        let sent = diary.0.iter().filter_map(|record| match record.fate {
            Fate::Sent { start, departure } => {
                let times = [record.packet.arrival, start, departure];
                Some((record.hop, times, record.packet.class.0, record.packet.length))
            }
            Fate::Dropped(_) | Fate::Queued => None,
        });
        let mut sent: Vec<Row> = sent.collect();
        rows.sort();
        sent.sort();
        let is_whole = timeline.gaps.is_empty();
        assert!(!rows.is_empty() && is_in(&rows, &sent), "{name}");
        assert_eq!(is_whole, rows.len() == sent.len(), "{name}");

        let mut rows: Vec<Drop> = timeline
            .unsent
            .iter()
            .map(|it| {
                let reason = it.dropped.map(|(time, reason)| {
                    assert!(time >= it.arrival, "{name}: {it:?}");
                    reason
                });
                (hop(it.output), it.arrival, it.class.0, it.length, reason)
            })
            .collect();
        let unsent = diary.0.iter().filter_map(|record| {
            let reason = match record.fate {
                Fate::Sent { .. } => return None,
                Fate::Dropped(reason) => Some(reason),
                Fate::Queued => None,
            };
            let packet = record.packet;
            Some((record.hop, packet.arrival, packet.class.0, packet.length, reason))
        });
        let mut unsent: Vec<Drop> = unsent.collect();
        rows.sort();
        unsent.sort();
        assert!(is_in(&rows, &unsent), "{name}");
        assert!(!is_whole || rows.len() == unsent.len(), "{name}");
        whole += usize::from(is_whole);
        plans += 1;
        drops += rows.len();
    }
    assert!(whole > 4 && plans > whole, "{whole} of {plans}");
    assert!(drops > 20, "{drops} packets that were not sent");
}

/// Whether every row has one of its own among others. Both are sorted.
fn is_in<T: Ord>(rows: &[T], others: &[T]) -> bool {
    let mut others = others.iter();
    rows.iter().all(|row| others.by_ref().find(|other| *other >= row) == Some(row))
}

/// What delays consist of is that of the packets which the tables count: those after the warm-up.
#[test]
fn delays_are_those_of_measured_packets() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/home-uplink.toml");
    let plan = Plan::read(&file).unwrap();
    let mut progress = |_| ControlFlow::Continue(());
    let result = run_explained(&plan, &Traffic::default(), &mut (), &mut progress).unwrap();
    let explanation = result.explanation.unwrap();
    let measured = &result.judged.summary.hops[0].classes;
    for (class, measured) in explanation.totals.classes.iter().zip(measured) {
        assert_eq!(class.packets, measured.sent);
        let mean = class.total() as f64 / class.packets as f64;
        let expected = measured.delay_ns.as_ref().unwrap().mean;
        assert!((mean - expected).abs() < 1e-6 * expected, "{}: {mean} {expected}", measured.name);
    }
    assert!(explanation.timeline.slowest.iter().all(|packets| !packets.is_empty()));
}

/// CoDel drops packets when they are chosen, after they have waited for a while.
#[test]
fn a_drop_has_the_time_at_which_it_happened() {
    let text = r#"
        version = 1
        link = { rate = "1mbit", max-packet = "1500b" }
        scheduler.kind = "fifo"
        class.web.queue = { kind = "codel", limit = 1000, target = "5ms", interval = "100ms" }
        [[source]]
        class = "web"
        model = "constant"
        rate = "2mbit"
        packet = "1500b"
    "#;
    let plan = Plan::parse(text, "plan.toml", Path::new("")).unwrap();
    let traffic = Traffic { duration: Some(Nanos(2_000_000_000)), ..Traffic::default() };
    let mut progress = |_| ControlFlow::Continue(());
    let result = run_explained(&plan, &traffic, &mut (), &mut progress).unwrap();
    let timeline = result.explanation.unwrap().timeline;
    let drops: Vec<_> = timeline.unsent.iter().filter_map(|it| Some((it, it.dropped?))).collect();
    assert!(drops.len() > 5, "{}", drops.len());
    for (packet, (time, reason)) in drops {
        assert_eq!(reason, DropReason::CoDel);
        assert!(time - packet.arrival >= Nanos(5_000_000), "{packet:?}");
        // The link was free then, and sent the next packet.
        let is_choice = timeline.passages.iter().any(|passage| passage.start == time);
        assert!(is_choice, "{packet:?}");
    }
}

/// Without an observer nothing is recorded, and several threads and profiles stay as they are.
#[test]
fn a_plain_run_records_nothing() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/two-hops.toml");
    let plan = Plan::read(&file).unwrap();
    let duration = Some(Nanos(100_000_000));
    let traffic = Traffic { duration, ..Traffic::default() };
    let mut progress = |_| ControlFlow::Continue(());
    assert!(run(&plan, &traffic, &mut (), &mut progress).unwrap().explanation.is_none());
    let profiled = Traffic { profile: true, ..traffic };
    let result = run_explained(&plan, &profiled, &mut (), &mut progress).unwrap();
    assert!(result.explanation.is_none() && result.profile.is_some());
}
