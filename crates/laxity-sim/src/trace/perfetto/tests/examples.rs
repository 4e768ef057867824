//! Every example, a link or a network.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use super::*;

const DURATION: Nanos = Nanos(150_000_000);

/// The plans of examples that a simulation can run, each with its name.
fn examples() -> Vec<(String, Plan)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = ["", "why"].into_iter().flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let plans = files.filter_map(|file| {
        let path = file.unwrap().path();
        let plan = Plan::read(&path).ok()?;
        let is_small = (1..=100).contains(&plan.sources.len());
        is_small.then(|| (path.display().to_string(), plan))
    });
    let plans: Vec<_> = plans.collect();
    assert!(plans.len() > 12, "{}", plans.len());
    plans
}

#[test]
fn transmissions_are_those_of_the_run_and_do_not_overlap() {
    for (name, plan) in examples() {
        let (events, diary) = traced(&plan, DURATION);
        let mut slices = Vec::new();
        let mut open: HashMap<_, &Event> = HashMap::new();
        let mut ends: HashMap<_, u64> = HashMap::new();
        for event in events.iter().filter(|event| event.track.starts_with("transmissions")) {
            let track = (&event.group, &event.track);
            match event.kind {
                EventKind::Begin => {
                    assert!(open.insert(track, event).is_none(), "{name}");
                    assert!(ends.get(&track).is_none_or(|end| *end <= event.time), "{name}");
                }
                EventKind::End => {
                    let begin = open.remove(&track).unwrap();
                    ends.insert(track, event.time);
                    let numbers = ["flow", "length", "arrival_ns", "waited_ns", "delay_ns"];
                    slices.push((
                        (event.group.clone(), begin.name.clone(), begin.time, event.time),
                        numbers.map(|argument| begin.number(argument)),
                        begin.arguments.contains_key("seq").then(|| begin.number("seq")),
                        begin
                            .arguments
                            .contains_key("deadline_ns")
                            .then(|| begin.number("deadline_ns")),
                    ));
                }
                kind => panic!("{name}: {kind:?}"),
            }
        }
        assert!(open.is_empty(), "{name}");
        let sent = diary.records.iter().filter_map(|record| {
            let Fate::Sent { start, departure } = record.fate else { return None };
            let Packet { arrival, flow, length, handle, .. } = record.packet;
            let (waited, delay) = (start - arrival, departure - arrival);
            Some((
                (group(&plan, record.hop), class(&plan, &record.packet), start.0, departure.0),
                [flow.0.into(), length.into(), arrival.0, waited.0, delay.0],
                record.hop.is_none().then_some(handle),
                record.deadline.map(|deadline| deadline.0),
            ))
        });
        assert!(!slices.is_empty(), "{name}");
        same(&name, slices, sent.collect());
    }
}

#[test]
fn instants_are_arrivals_deadlines_misses_drops_and_receptions_of_the_run() {
    let (mut missed_any, mut dropped_any) = (false, false);
    for (name, plan) in examples() {
        let (events, diary) = traced(&plan, DURATION);
        let on = |track| {
            on_track(&events, track)
                .map(|event| (event.group.clone(), event.name.clone(), event.time))
                .collect::<Vec<_>>()
        };
        let place = |record: &Record| (group(&plan, record.hop), class(&plan, &record.packet));
        let (mut arrivals, mut deadlines, mut missed) = (Vec::new(), Vec::new(), Vec::new());
        let mut drops = Vec::new();
        for record in &diary.records {
            let (group, class) = place(record);
            let Packet { arrival, demoted, .. } = record.packet;
            arrivals.push((group.clone(), class.clone(), arrival.0));
            let promised = plan.classes[record.packet.class.index()].deadline;
            match record.fate {
                Fate::Sent { departure, .. } => {
                    if let (Some(delay), false) = (promised, demoted) {
                        let due = arrival + delay;
                        deadlines.push((group.clone(), class.clone(), due.0));
                        if departure > due {
                            missed.push((group, class, due.0, (departure - due).0));
                        }
                    }
                }
                Fate::Dropped(reason) => drops.push((group, class, arrival.0, reason.name())),
                Fate::Queued => {}
            }
        }
        let mut received = Vec::new();
        for (packet, bytes, now) in &diary.delivered {
            let (class, receivers) = (class(&plan, packet), "receivers".to_owned());
            let set_out = packet.arrival;
            received.push((class.clone(), now.0, set_out.0, (*now - set_out).0, *bytes));
            if let Some(delay) = plan.classes[packet.class.index()].end_to_end {
                let due = set_out + delay;
                deadlines.push((receivers.clone(), class.clone(), due.0));
                if *now > due {
                    missed.push((receivers, class, due.0, (*now - due).0));
                }
            }
        }
        (missed_any, dropped_any) =
            (missed_any || !missed.is_empty(), dropped_any || !drops.is_empty());
        same(&name, on("arrivals"), arrivals);
        same(&name, on("deadlines"), deadlines);
        let read = on_track(&events, "missed deadlines").map(|event| {
            (event.group.clone(), event.name.clone(), event.time, event.number("late_ns"))
        });
        same(&name, read.collect(), missed);
        let read = on_track(&events, "drops").map(|event| {
            let Value::Text(reason) = &event.arguments["reason"] else { panic!("{event:?}") };
            assert!(event.time >= event.number("arrival_ns"), "{name}: {event:?}");
            (event.group.clone(), event.name.clone(), event.number("arrival_ns"), &**reason)
        });
        same(&name, read.collect(), drops);
        let read = on_track(&events, "received").map(|event| {
            let numbers = ["set_out_ns", "delay_ns", "bytes"];
            let [set_out, delay, bytes] = numbers.map(|argument| event.number(argument));
            (event.name.clone(), event.time, set_out, delay, bytes)
        });
        same(&name, read.collect(), received);
        let named = events.iter().filter(|event| !event.name.is_empty());
        assert!(named.clone().all(|event| event.colour == event.name), "{name}");
    }
    assert!(missed_any && dropped_any);
}

/// What a counter shows: (group, class, unit) to times and values.
type Counters = BTreeMap<(String, String), Vec<(u64, i64)>>;

#[test]
fn counters_are_what_is_queued_at_the_end_of_each_instant() {
    for (name, plan) in examples() {
        let (events, diary) = traced(&plan, DURATION);
        let mut read = Counters::new();
        for event in events.iter().filter(|event| event.kind == EventKind::Counter) {
            let key = (event.group.clone(), event.track.clone());
            read.entry(key).or_default().push((event.time, event.value.unwrap()));
        }
        let mut drop_times = on_track(&events, "drops").map(|event| event.time);
        let mut changes: BTreeMap<(String, String), BTreeMap<u64, i64>> = BTreeMap::new();
        let mut change = |record: &Record, time: u64, sign: i64| {
            let class = class(&plan, &record.packet);
            for (unit, by) in [("packets", 1), ("bytes", i64::from(record.packet.length))] {
                let key = (group(&plan, record.hop), format!("{class}: queued {unit}"));
                *changes.entry(key).or_default().entry(time).or_default() += sign * by;
            }
        };
        for record in &diary.records {
            change(record, record.packet.arrival.0, 1);
            match record.fate {
                Fate::Sent { start, .. } => change(record, start.0, -1),
                Fate::Dropped(_) => change(record, drop_times.next().unwrap(), -1),
                Fate::Queued => {}
            }
        }
        let told: Counters = changes
            .into_iter()
            .map(|(key, changes)| {
                let mut value = 0;
                let values = changes.into_iter().filter(|(_, by)| *by != 0).map(|(time, by)| {
                    value += by;
                    assert!(value >= 0, "{name}: {key:?} at {time}");
                    (time, value)
                });
                let values = values.collect();
                (key, values)
            })
            .filter(|(_, values): &(_, Vec<_>)| !values.is_empty())
            .collect();
        let keys = |counters: &Counters| counters.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&read), keys(&told), "{name}");
        for (key, told) in told {
            assert!(read[&key] == told, "{name}: {key:?}");
        }
    }
}

/// Each packet goes from its arrival to its transmission, and on, to its receiver or its drop.
#[test]
fn arrows_follow_packets_over_all_their_links() {
    let mut longest = 0;
    for (name, plan) in examples() {
        let (events, _) = traced(&plan, DURATION);
        let mut ways: BTreeMap<u64, Vec<&Event>> = BTreeMap::new();
        for event in &events {
            assert!(event.flows.len() + event.ended_flows.len() <= 1, "{name}");
            for flow in event.flows.iter().chain(&event.ended_flows) {
                ways.entry(*flow).or_default().push(event);
            }
        }
        for way in ways.values() {
            let shown = || format!("{name}: {way:#?}");
            assert!(way.iter().all(|event| event.name == way[0].name), "{}", shown());
            assert!(way.is_sorted_by_key(|event| event.time), "{}", shown());
            for (place, event) in way.iter().enumerate() {
                let is_last = place + 1 == way.len();
                assert!(event.ended_flows.is_empty() || is_last, "{}", shown());
                if place % 2 == 0 && event.track != "received" {
                    assert_eq!(event.track, "arrivals", "{}", shown());
                } else if event.track.starts_with("transmissions") {
                    assert_eq!(event.number("arrival_ns"), way[place - 1].time, "{}", shown());
                    assert_eq!(event.group, way[place - 1].group, "{}", shown());
                    assert_eq!(plan.network.is_none(), is_last && event.flows.is_empty());
                } else {
                    assert!(["drops", "received"].contains(&&*event.track), "{}", shown());
                    assert!(is_last && event.flows.is_empty(), "{}", shown());
                }
            }
            longest = longest.max(way.len());
        }
    }
    assert!(longest >= 7, "{longest}");
}
