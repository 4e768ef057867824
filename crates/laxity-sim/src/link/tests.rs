//! Whole runs against what theory and arithmetic say.

mod ecn;
mod hosts;
mod theory;

use std::mem;
use std::path::Path;

use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{Backlog, Criterion, Dispatch, DropReason, DropSink};

use laxity_plan::discipline::Kind;
use laxity_plan::model::SchedulerSpec;

use super::*;
use crate::record::{Fate, Record};
use crate::summary::ClassSummary;

/// A plan on a link of 8 Mbit/s, where a byte takes 1 us.
fn plan(rest: &str) -> Plan {
    let text =
        format!("version = 1\nlink = {{ rate = \"8mbit\", max-packet = \"1500b\" }}\n{rest}");
    Plan::parse_for(&text, "test.toml", Path::new("."), Kind::ALL)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn run(plan: &Plan, seed: u64, seconds: u64) -> (Outcome, Vec<Record>) {
    let duration = Some(Nanos(seconds * 1_000_000_000));
    let run = Run { plan, duration, seed, feeds: Vec::new() };
    let mut records = Records::default();
    let outcome =
        run.with_sources().unwrap().simulate(&mut records, &mut crate::to_the_end).unwrap();
    (outcome, records.0)
}

#[derive(Default)]
struct Records(Vec<Record>);

impl Observer for Records {
    fn record(&mut self, record: &Record) {
        self.0.push(*record);
    }
}

fn class(outcome: &Outcome) -> &ClassSummary {
    &outcome.summary.hops[0].classes[0]
}

#[test]
fn every_packet_has_one_fate_and_no_two_are_on_the_link_at_once() {
    let plan = plan(
        r#"scheduler = { kind = "wfq" }
        class.a = { queue = { kind = "droptail", limit = "10kB" } }
        class.b = {}
        source = [
            { class = "a", model = "poisson", packet = { uniform = ["40b", "1500b"] }, rate = "6mbit" },
            { class = "a", model = "on-off", packet = "700b", rate = "8mbit", on = "5ms", off = { exponential = "5ms" } },
            { class = "b", model = "constant", packet = "300b", rate = "2mbit" },
        ]"#,
    );
    let (outcome, mut records) = run(&plan, 7, 20);
    let transmissions: Vec<_> = records
        .iter()
        .filter_map(|record| match record.fate {
            Fate::Sent { start, departure } => Some((start, departure, record.packet)),
            Fate::Dropped(_) | Fate::Queued => None,
        })
        .collect();
    assert!(transmissions.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    for (start, departure, packet) in &transmissions {
        assert!(packet.arrival <= *start);
        // A byte takes a whole number of ns here, so nothing is rounded.
        assert_eq!((*departure - *start).0, u64::from(packet.length) * 1_000);
    }
    let dropped = records.len() - transmissions.len();
    assert!(dropped > 100, "the queue limit never mattered");
    let counted: u64 = outcome.summary.hops[0].classes.iter().map(|class| class.arrived).sum();
    assert_eq!(counted, records.len() as u64);
    records.sort_by_key(|record| record.packet.handle);
    assert!(records.iter().enumerate().all(|(seq, record)| record.packet.handle == seq as u64));
}

#[test]
fn packets_of_the_warm_up_are_sent_but_not_measured() {
    let rest = r#"scheduler = { kind = "fifo" }
        class.all = {}
        source = [{ class = "all", model = "constant", packet = "1000b", rate = "4mbit" }]"#;
    let whole = plan(rest);
    let warmed = plan(&format!("run = {{ warm-up = \"1s\" }}\n{rest}"));
    let (all, records) = run(&whole, 1, 3);
    let (later, same_records) = run(&warmed, 1, 3);
    assert_eq!(records, same_records);
    assert_eq!((class(&all).sent, class(&later).sent), (1500, 1000));
    for outcome in [all, later] {
        assert!((class(&outcome).throughput_bps - 4e6).abs() < 1e4);
        assert!((outcome.summary.hops[0].utilization - 0.5).abs() < 1e-3);
    }
}

#[test]
fn packets_that_break_the_contract_are_treated_as_the_plan_says() {
    // Twice the contract: 1000 packets a second, 500 of them conforming.
    let policed = |police: &str| {
        let plan = plan(&format!(
            r#"scheduler = {{ kind = "edf", best-effort = "background" }}
            class.a = {{ deadline = "5ms", police = "{police}",
                         arrival = {{ bucket = "500b", rate = "2mbit", packet = "500b" }} }}
            class.rest = {{}}
            source = [{{ class = "a", model = "constant", packet = "500b", rate = "4mbit" }},
                      {{ class = "rest", model = "poisson", packet = "1500b", rate = "3mbit" }}]"#
        ));
        run(&plan, 1, 4)
    };
    let (counted, _) = policed("count");
    assert_eq!((class(&counted).nonconforming, class(&counted).sent), (2000, 4000));
    let (dropped, _) = policed("drop");
    assert_eq!((class(&dropped).nonconforming, class(&dropped).sent), (2000, 2000));
    assert_eq!(class(&dropped).dropped["contract"], 2000);
    assert_eq!((class(&dropped).deadline_misses, class(&dropped).bound_misses), (0, 0));
    let (demoted, records) = policed("demote");
    assert_eq!((class(&demoted).nonconforming, class(&demoted).sent), (2000, 4000));
    assert_eq!(records.iter().filter(|record| record.packet.demoted).count(), 2000);
    assert_eq!((class(&demoted).deadline_misses, class(&demoted).bound_misses), (0, 0));
    let longest = class(&demoted).delay_ns.unwrap().max;
    assert!(class(&demoted).promised_max_ns.unwrap() < longest, "demoted packets wait longer");
}

#[test]
fn a_backlogged_source_keeps_the_link_busy_and_its_window_full() {
    let plan = plan(
        r#"scheduler = { kind = "wfq" }
        class.heavy = { weight = 3 }
        class.light = {}
        source = [{ class = "heavy", model = "backlogged", packet = "1000b" },
                  { class = "light", model = "backlogged", packet = "500b", window = 5, count = 2 }]"#,
    );
    let (outcome, _) = run(&plan, 1, 10);
    assert!(outcome.summary.hops[0].utilization > 0.9999);
    let share = class(&outcome).throughput_bps / 8e6;
    assert!((share - 0.75).abs() < 1e-3, "{share}");
    // Packets queued at the end are sent after it: two packets and ten.
    let sent: Vec<_> = outcome.summary.hops[0].classes.iter().map(|class| class.sent).collect();
    assert_eq!(sent[0], outcome.summary.hops[0].classes[0].arrived);
    assert_eq!(sent[1], outcome.summary.hops[0].classes[1].arrived);
}

#[test]
fn the_same_seed_gives_the_same_packets_and_another_seed_others() {
    let plan = plan(
        r#"scheduler = { kind = "fifo" }
        class.all = {}
        source = [{ class = "all", model = "poisson", packet = { normal = ["700b", "200b"] }, rate = "6mbit" }]"#,
    );
    let (first, again, other) = (run(&plan, 1, 2).1, run(&plan, 1, 2).1, run(&plan, 2, 2).1);
    assert_eq!(first, again);
    assert_ne!(first, other);
}

#[test]
fn the_same_arrivals_go_through_every_scheduler() {
    let plan = plan(
        r#"scheduler = { kind = "edf" }
        class.a = { deadline = "10ms", arrival = { bucket = "3000b", rate = "2mbit" } }
        class.b = {}
        source = [{ class = "a", model = "greedy", packet = "500b", burst = { uniform = ["5ms", "9ms"] }, spacing = "4ms" },
                  { class = "b", model = "poisson", packet = "900b", rate = "4mbit" }]"#,
    );
    let arrivals = |name: &str| {
        let scheduler = SchedulerSpec::named(name, plan.scheduler).unwrap();
        let mut records = run(&Plan { scheduler, ..plan.clone() }, 3, 2).1;
        records.sort_by_key(|record| record.packet.handle);
        records.into_iter().map(|record| record.packet).collect::<Vec<_>>()
    };
    let fifo = arrivals("fifo");
    assert!(fifo.len() > 1000);
    for name in SchedulerSpec::names() {
        assert_eq!(arrivals(name), fifo, "{name}");
    }
}

const CAMPUS: &str = r#"scheduler = { kind = "hfsc" }
    class.calls = { parent = "site", deadline = "10ms", arrival = { bucket = "1000b", rate = "1mbit" } }
    class.site = { link-share = "4mbit" }
    class.data = { parent = "site" }
    class.rest = {}
    source = [{ class = "calls", model = "greedy", packet = "500b", burst = "5ms", spacing = { exponential = "5ms" } },
              { class = "data", model = "poisson", packet = "900b", rate = "3mbit" },
              { class = "rest", model = "on-off", packet = "1500b", rate = "8mbit", on = "20ms", off = "20ms" }]"#;

#[test]
fn a_hierarchy_runs_under_every_scheduler_and_only_its_leaves_are_told() {
    let plan = plan(CAMPUS);
    for scheduler in SchedulerSpec::defaults() {
        let (outcome, records) = run(&Plan { scheduler, ..plan.clone() }, 2, 2);
        let classes = &outcome.summary.hops[0].classes;
        let told: Vec<_> =
            classes.iter().map(|class| (&*class.name, class.parent.as_deref())).collect();
        assert_eq!(told, [("calls", Some("site")), ("data", Some("site")), ("rest", None)]);
        for (number, class) in [0, 2, 3].into_iter().zip(classes) {
            let own = records.iter().filter(|record| record.packet.class == ClassId(number));
            let dropped: u64 = class.dropped.values().sum();
            assert_eq!((class.arrived, class.sent), (own.count() as u64, class.arrived - dropped));
            // Controlled delay drops by its nature; nothing else does here.
            let controls = matches!(
                scheduler,
                SchedulerSpec::FqCodel(_) | SchedulerSpec::DualPi2(_) | SchedulerSpec::Cake(_)
            );
            assert!(dropped == 0 || controls, "{scheduler}: {class:?}");
            assert!(class.sent > 100, "{scheduler}: {class:?}");
        }
    }
}

#[test]
fn an_upper_limit_leaves_the_link_idle_and_other_classes_unhindered() {
    let plan = plan(
        r#"scheduler = { kind = "hfsc" }
        class.capped = { link-share = "4mbit", upper-limit = "2mbit" }
        class.free = { link-share = "4mbit" }
        source = [{ class = "capped", model = "backlogged", packet = "1000b" },
                  { class = "free", model = "poisson", packet = "500b", rate = "1mbit" }]"#,
    );
    for seed in 1..=3 {
        let (outcome, records) = run(&plan, seed, 10);
        let [capped, free] = &outcome.summary.hops[0].classes[..] else { panic!("two classes") };
        assert!((capped.throughput_bps - 2e6).abs() < 2e3, "{}", capped.throughput_bps);
        assert!((free.throughput_bps - 1e6).abs() < 5e4, "{}", free.throughput_bps);
        assert!((outcome.summary.hops[0].utilization - 3.0 / 8.0).abs() < 0.01);
        let mut free_at = Nanos::ZERO;
        for record in &records {
            let Fate::Sent { start, departure } = record.fate else { panic!("nothing is dropped") };
            if record.packet.class == ClassId(1) {
                // At most one of the others' packets goes first.
                let first = free_at.max(record.packet.arrival);
                assert!(start <= first + Nanos(1_000_000), "{record:?}");
            }
            free_at = departure;
        }
    }
}

/// First come, first served, but for class 0, whose packets are held until the next multiple of
/// 10 ms.
#[derive(Default)]
struct Holding {
    held: Vec<(Nanos, Packet)>,
    others: Vec<Packet>,
    backlog: Backlog,
}

impl Scheduler for Holding {
    fn enqueue(&mut self, now: Nanos, packet: Packet, _: &mut dyn DropSink) {
        self.backlog.add(packet.length);
        match packet.class {
            ClassId(0) => self.held.push((Nanos(now.0.next_multiple_of(10_000_000)), packet)),
            _ => self.others.push(packet),
        }
    }

    fn dequeue(&mut self, now: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        let packet = if !self.others.is_empty() {
            self.others.remove(0)
        } else {
            self.held.first().filter(|(ready, _)| *ready <= now)?;
            self.held.remove(0).1
        };
        self.backlog.remove(packet.length);
        Some(Dispatch { packet, deadline: None, criterion: Criterion::ArrivalOrder })
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        let held = self.held.first().map(|(ready, _)| now.max(*ready));
        if self.others.is_empty() { held } else { Some(now) }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn footprint(&self) -> usize {
        0
    }
}

#[test]
fn the_link_waits_for_packets_that_are_held_back_and_sends_others_meanwhile() {
    let plan = plan(
        r#"scheduler = { kind = "fifo" }
        class.held = {}
        class.free = {}
        source = [{ class = "held", model = "constant", packet = "1000b", rate = "2mbit" },
                  { class = "free", model = "poisson", packet = "500b", rate = "1mbit" }]"#,
    );
    for seed in 1..=3 {
        let duration = Some(Nanos(1_000_000_000));
        let run = Run { plan: &plan, duration, seed, feeds: Vec::new() };
        let mut records = Records::default();
        let holding = Box::<Holding>::default();
        let run = run.with_sources().unwrap();
        let outcome = run.simulate_on(holding, &mut records, &mut crate::to_the_end).unwrap();
        let sent: u64 = outcome.summary.hops[0].classes.iter().map(|class| class.sent).sum();
        assert_eq!(records.0.len() as u64, sent);
        let mut free_at = Nanos::ZERO;
        let mut waited = 0;
        for Record { packet, fate, .. } in &records.0 {
            let Fate::Sent { start, departure } = *fate else { panic!("nothing is dropped") };
            let ready = match packet.class {
                ClassId(0) => packet.arrival.0.next_multiple_of(10_000_000),
                _ => packet.arrival.0,
            };
            assert_eq!(start, free_at.max(Nanos(ready)), "the link idles only when it must");
            waited += u32::from(packet.class == ClassId(0) && start > free_at);
            free_at = departure;
        }
        assert!(waited > 50, "{waited}");
    }
}

/// Thirty streams that are due a packet every 20 ms, on a link that has time for twenty: what DWCS
/// drops for being late is replaced like what it sends, so no stream falls silent.
#[test]
fn a_backlogged_stream_goes_on_after_late_packets() {
    let plan = plan(
        r#"scheduler = { kind = "dwcs" }
        class.streams = { count = 30, gap = "20ms", loss = "1/2" }
        source = [{ class = "streams", model = "backlogged", packet = "1000b" }]"#,
    );
    let (outcome, records) = run(&plan, 1, 10);
    assert!(outcome.summary.hops[0].utilization > 0.9999);
    let windows = class(&outcome).windows.as_ref().unwrap();
    let dropped = class(&outcome).dropped["late"];
    // A deadline every 20 ms for each stream; the link keeps two thirds of them.
    assert!((windows.packets as f64 - 15_000.0).abs() < 100.0, "{windows:?}");
    assert!((dropped as f64 - 5_000.0).abs() < 100.0, "{dropped}");
    assert_eq!((windows.lost, windows.deadline_misses), (dropped, dropped));
    assert_eq!((windows.streams, windows.violations, windows.longest_run), (30, 0, 1));
    let mut last = [Nanos::ZERO; 30];
    for Record { packet, fate, .. } in records {
        if let Fate::Sent { start, .. } = fate {
            let before = mem::replace(&mut last[packet.flow.0 as usize], start);
            assert!(start <= before + Nanos(60_000_000), "{packet:?} at {start}");
        }
    }
}

/// A queue that drops by chance, by meeting or for having waited, as they come and as they go:
/// backlogged sources keep the link busy to the end.
#[test]
fn a_backlogged_source_goes_on_whoever_drops_its_packets() {
    for queue in [
        r#"kind = "red", min = 2, max = 4, limit = 8, weight = 0.5"#,
        r#"kind = "red", min = 2, max = 4, limit = 8, weight = 0.001, gentle = false"#,
        r#"kind = "choke", min = 2, max = 4, limit = 8, weight = 0.5, candidates = 2"#,
        r#"kind = "codel", limit = 8, target = "1ms", interval = "10ms""#,
        r#"kind = "pie", limit = 8, target = "1ms", update = "1ms", burst = "0s""#,
    ] {
        let plan = plan(&format!(
            r#"scheduler = {{ kind = "wfq", queue = {{ {queue} }} }}
            class.a = {{}}
            class.b = {{}}
            source = [
                {{ class = "a", model = "backlogged", packet = "1000b", window = 5 }},
                {{ class = "b", model = "backlogged", packet = "1000b", window = 5, count = 3 }},
            ]"#
        ));
        let (outcome, records) = run(&plan, 1, 5);
        assert!(
            outcome.summary.hops[0].utilization > 0.98,
            "{queue}: {:?}",
            outcome.summary.hops[0]
        );
        // One try of each packet after every transmission, and those that are sent or dropped late.
        assert!(records.len() < 5_000 * 23, "{queue}: {}", records.len());
        let sent = outcome.summary.hops[0].classes.iter().map(|class| class.sent);
        assert!(sent.clone().all(|sent| sent > 500), "{queue}: {:?}", sent.collect::<Vec<_>>());
    }
}

#[test]
fn another_seed_draws_other_drops() {
    let plan = plan(
        r#"scheduler = { kind = "fifo", queue = { kind = "red", min = 2, max = 9, limit = 20 } }
        class.all = {}
        source = [{ class = "all", model = "constant", packet = "1000b", rate = "9mbit" }]"#,
    );
    let dropped = |seed| {
        let records = run(&plan, seed, 5).1;
        let dropped = records.iter().filter(|record| record.fate == Fate::Dropped(DropReason::Red));
        dropped.map(|record| record.packet.handle).collect::<Vec<_>>()
    };
    assert!(!dropped(1).is_empty());
    assert_eq!(dropped(1), dropped(1));
    assert_ne!(dropped(1), dropped(2));
}

/// What EDF drops for being late was never sent late.
#[test]
fn late_packets_are_dropped_where_the_plan_says_so() {
    for (late, is_dropped) in [("send", false), ("drop", true)] {
        let plan = plan(&format!(
            r#"scheduler = {{ kind = "edf", late = "{late}" }}
            [class.due]
            deadline = "4ms"
            arrival = {{ bucket = "2kB", rate = "4mbit" }}
            [[source]]
            class = "due"
            model = "constant"
            packet = "1000b"
            rate = "9mbit""#
        ));
        let (outcome, records) = run(&plan, 1, 2);
        let dropped = class(&outcome).dropped.get("late").copied().unwrap_or(0);
        assert_eq!(dropped > 100, is_dropped, "{dropped}");
        let begun_late = records.iter().filter(|record| {
            matches!(record.fate, Fate::Sent { start, .. } if start > record.deadline.unwrap())
        });
        assert_eq!(begun_late.count() == 0, is_dropped);
    }
}

/// GPS over EDF (Hei, Tsang 2001): best effort that floods its share does not delay the real-time
/// class beyond its bound, gets all that is left, and what the real-time class leaves while it
/// sleeps.
#[test]
fn best_effort_in_a_share_of_its_own_takes_the_excess_alone() {
    let text = |weight: u32, rate: &str| {
        format!(
            r#"scheduler.kind = "wf2q"
            class.real-time = {{ weight = {weight}, scheduler.kind = "edf" }}
            class.voice = {{ parent = "real-time", deadline = "15ms",
                arrival = {{ bucket = "600b", rate = "600kbit", packet = "200b" }} }}
            class.video = {{ parent = "real-time", deadline = "60ms",
                arrival = {{ bucket = "6kB", rate = "1500kbit" }} }}
            class.rest = {{ weight = 4, scheduler = {{ kind = "fifo",
                queue = {{ kind = "red", min = 10, max = 30, limit = 60 }} }} }}
            [[source]]
            class = "voice"
            model = "greedy"
            packet = "200b"
            burst = {{ uniform = ["5ms", "40ms"] }}
            spacing = {{ uniform = ["1ms", "30ms"] }}
            stop = "5s"
            [[source]]
            class = "video"
            model = "greedy"
            packet = {{ uniform = ["500b", "1500b"] }}
            burst = {{ uniform = ["20ms", "200ms"] }}
            spacing = {{ uniform = ["10ms", "90ms"] }}
            stop = "5s"
            [[source]]
            class = "rest"
            model = "poisson"
            rate = "{rate}"
            packet = {{ uniform = ["40b", "1500b"] }}"#
        )
    };
    for seed in 1..=5 {
        let plan = plan(&text(6, "20mbit"));
        let (outcome, records) = run(&plan, seed, 10);
        let bounds = plan.bounds();
        for (class, bound) in outcome.summary.hops[0].classes.iter().zip(&bounds[1..]).take(2) {
            let largest = class.delay_ns.unwrap().max;
            assert!(Nanos(largest) <= bound.unwrap(), "{}: {largest} {bound:?}", class.name);
            assert_eq!((class.bound_misses, class.deadline_misses), (0, 0));
        }
        assert!(outcome.summary.hops[0].utilization > 0.999);
        // While real-time sources sleep, the rest has the whole link.
        let late = records.iter().filter(|record| record.packet.class == ClassId(3));
        let bytes = late.filter(|record| match record.fate {
            Fate::Sent { start, .. } => start >= Nanos(6_000_000_000),
            Fate::Dropped(_) | Fate::Queued => false,
        });
        let bits: u64 = bytes.map(|record| u64::from(record.packet.length) * 8).sum();
        assert!(bits as f64 > 4.0 * 0.999 * 8e6, "{bits}");
    }
    // A share that is too small is refused, and its delays are as long as was to be feared.
    assert!(!plan(&text(1, "20mbit")).inner_guarantees().edf[0].1.admitted);
}
