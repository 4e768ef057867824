//! The recorder against a list of everything that was chosen.

use std::sync::{Arc, Mutex};

use laxity::explain::Explain;
use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{Backlog, Criterion, Dispatch, DropSink, Scheduler};
use laxity::units::{Bytes, Nanos};
use laxity_plan::Plan;

use super::*;

/// Two siblings of different shares inside a class, beside a third leaf with a real-time curve.
fn plan() -> Plan {
    let text = "version = 1
        link = { rate = '8mbit', max-packet = '1500b' }
        scheduler = { kind = 'hfsc' }
        class.office = { link-share = '4mbit' }
        class.web = { parent = 'office', link-share = '1mbit' }
        class.mail = { parent = 'office', link-share = '3mbit' }
        class.voice = { real-time = '1mbit', link-share = '1mbit' }";
    Plan::parse(text, "test.toml", std::path::Path::new("")).unwrap()
}

type Row = (Nanos, Dispatch, Vec<Option<u128>>);

/// Notes every choice with the virtual times after it.
struct Diary {
    scheduler: Box<dyn Scheduler + Send>,
    rows: Arc<Mutex<Vec<Row>>>,
}

impl Scheduler for Diary {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.scheduler.enqueue(now, packet, drops);
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let sent = self.scheduler.dequeue(now, drops)?;
        let times = self.scheduler.explain().and_then(Explain::virtual_times).unwrap();
        let times = (0..4).map(|class| times.virtual_time(ClassId(class))).collect();
        self.rows.lock().unwrap().push((now, sent, times));
        Some(sent)
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.scheduler.next_ready(now)
    }

    fn backlog(&self) -> Backlog {
        self.scheduler.backlog()
    }

    fn footprint(&self) -> usize {
        0
    }

    fn explain(&self) -> Option<&dyn Explain> {
        self.scheduler.explain()
    }
}

/// Packets of the leaves on a link that takes 0.8 ms for one on average, up to 1.5 ms after one
/// another and with pauses.
fn run(packets: u64, seed: u64) -> (Vec<Row>, Vec<ServicePeriod>) {
    run_with(packets, seed, 1_500_000)
}

/// The same with this longest gap in nanoseconds.
fn run_with(packets: u64, seed: u64, longest_gap: u64) -> (Vec<Row>, Vec<ServicePeriod>) {
    let plan = plan();
    let rows = Arc::default();
    let diary = Diary { scheduler: plan.build_scheduler(1), rows: Arc::clone(&rows) };
    let recorder = ServiceRecorder::new(&plan);
    let mut scheduler = recorder.watch(None, Box::new(diary));
    let leaves = ["web", "mail", "voice"].map(|name| plan.class(name).unwrap());
    let (mut now, mut free, mut state) = (Nanos::ZERO, Nanos::ZERO, seed);
    let mut drops = |_, _| panic!("nothing is dropped");
    for handle in 0..packets {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (draw, length) = (state >> 40, 64 + (state >> 33) % 1400);
        let class = leaves[draw as usize % 3];
        now += Nanos(if draw % 50 == 0 { 40 * longest_gap } else { draw % longest_gap });
        while free < now {
            let Some(sent) = scheduler.dequeue(free, &mut drops) else { break };
            free += plan.link.rate.time_for(Bytes(sent.packet.length.into()));
        }
        free = free.max(now);
        let length = length as u32;
        let packet = Packet { class, length, arrival: now, handle, ..Packet::default() };
        scheduler.enqueue(now, packet, &mut drops);
    }
    while let Some(sent) = scheduler.dequeue(free, &mut drops) {
        free += plan.link.rate.time_for(Bytes(sent.packet.length.into()));
    }
    drop(scheduler);
    let rows = Arc::try_unwrap(rows).ok().unwrap().into_inner().unwrap();
    (rows, recorder.finish())
}

/// The periods are those of the packets that waited longest, in short and long runs.
#[test]
fn periods_are_around_the_packets_that_waited_longest() {
    for (packets, seed, longest_gap) in
        [(300, 1, 1_500_000), (300, 2, 900_000), (9000, 3, 1_500_000), (20_000, 4, 200_000)]
    {
        let (rows, periods) = run_with(packets, seed, longest_gap);
        assert_eq!(periods.len(), 3, "{seed}");
        for period in &periods {
            let own = rows.iter().filter(|(_, sent, _)| sent.packet.class == period.class);
            let waits = own.map(|(now, sent, _)| *now - sent.packet.arrival);
            assert_eq!(waits.max(), Some(period.wait()), "{seed}");
            let its = |row: &&Row| row.1.packet.handle == period.packet;
            let (now, sent, _) = rows.iter().find(its).unwrap();
            assert_eq!((*now, sent.packet.arrival), (period.start, period.arrival));
        }
    }
}

/// Every point is one of what was chosen, with the sums of what the class received in between.
#[test]
fn service_and_virtual_times_are_those_of_the_choices() {
    let plan = plan();
    let (rows, periods) = run(400, 5);
    let names = |period: &ServicePeriod| {
        let names = period.virtual_times.iter().map(|it| it.class.index());
        names.map(|class| plan.classes[class].name.to_string()).collect::<Vec<_>>()
    };
    for period in &periods {
        let from = period.arrival.saturating_sub(Nanos(period.wait().0 / 4));
        let until = period.start + Nanos(period.wait().0 / 4);
        let within: Vec<&Row> =
            rows.iter().filter(|(now, ..)| (from..=until).contains(now)).collect();
        let (mut received, mut real_time, mut service) = (0, 0, Vec::new());
        for (now, sent, _) in within.iter().filter(|row| row.1.packet.class == period.class) {
            let length = u64::from(sent.packet.length);
            let deadline = sent.deadline.map(|deadline| (deadline, real_time + length));
            received += length;
            real_time += length * u64::from(sent.criterion == Criterion::RealTime);
            let end = *now + plan.link.rate.time_for(Bytes(length));
            service.push(Service { end, received, real_time, deadline });
        }
        assert!(service.len() < 240 && service == period.service);
        for curve in &period.virtual_times {
            let points = within
                .iter()
                .map(|(now, _, times)| (*now, times[curve.class.index()].map(|time| time as u64)));
            assert_eq!(curve.points, points.collect::<Vec<_>>());
        }
        let expected: &[&str] = match plan.classes[period.class.index()].name.as_str() {
            "voice" => &["office", "voice"],
            _ => &["web", "mail"],
        };
        assert_eq!(names(period), expected);
    }
}

/// The deadlines of a leaf with a real-time curve are met, but for one packet on the link.
#[test]
fn real_time_service_keeps_to_the_deadline_curve() {
    let late = plan().link.rate.time_for(Bytes(1500));
    let voice = plan().class("voice").unwrap();
    let mut points = 0;
    for seed in 6..16 {
        let (_, periods) = run(2000, seed);
        let period = periods.iter().find(|period| period.class == voice).unwrap();
        for service in &period.service {
            let Some((deadline, _)) = service.deadline else { continue };
            assert!(service.end <= deadline + late);
            points += 1;
        }
    }
    assert!(points > 100);
}

/// Over long waits periods are cut, and their points are few.
#[test]
fn a_period_is_of_bounded_size() {
    let (rows, periods) = run_with(30_000, 4, 200_000);
    let mut cut = 0;
    for period in &periods {
        let points = period.virtual_times.iter().map(|curve| curve.points.len());
        assert!(period.service.len() <= 240 && points.max() <= Some(240));
        let first = period.virtual_times[0].points[0].0;
        let chosen = |(now, ..): &&Row| first <= *now && *now <= period.start;
        assert!(rows.iter().filter(chosen).count() <= 3073);
        assert!(period.service.is_sorted_by_key(|service| service.received));
        cut += u32::from(first > period.arrival);
    }
    assert!(cut > 0, "some packet waits for longer than is remembered");
}

/// A scheduler without virtual times stays as it is.
#[test]
fn other_disciplines_are_not_recorded() {
    let plan = plan().under("fifo").unwrap();
    let recorder = ServiceRecorder::new(&plan);
    let scheduler = plan.build_scheduler(1);
    let before = std::ptr::from_ref(&*scheduler).cast::<()>();
    let scheduler = recorder.watch(None, scheduler);
    assert_eq!(std::ptr::from_ref(&*scheduler).cast::<()>(), before);
    assert_eq!(recorder.finish(), []);
}
