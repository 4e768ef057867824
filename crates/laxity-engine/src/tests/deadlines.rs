//! A queue of deadlines in place of a scheduler, and what a producer and a pace may ask for.

use std::time::Duration;

use laxity::deadline_queue::{DeadlineQueue, Rank};
use laxity::packet::Packet;
use laxity::sched::Fifo;
use laxity::scheduler::{Dispatch, DropReason};
use laxity::units::{Nanos, Rate};

use super::{RecordingSink, packet};
use crate::{Deadlines, Engine, JoinError, Pace, Refusal, Room, Settings, Sink, Terms};

type Payload = (Terms, u64);

/// What came out, when.
#[derive(Default)]
struct TimedSink {
    started: Option<std::time::Instant>,
    sent: Vec<u64>,
    dropped: Vec<(u64, DropReason, Nanos)>,
}

impl Sink<Payload> for TimedSink {
    fn start(&mut self, started: std::time::Instant) {
        self.started = Some(started);
    }

    fn sent(&mut self, dispatch: Dispatch, _: Nanos, (_, name): Payload) {
        assert_eq!(dispatch.packet.handle, name);
        self.sent.push(name);
    }

    fn dropped(&mut self, packet: Packet, reason: DropReason, (_, name): Payload) {
        assert_eq!(packet.handle, name);
        let now = self.started.expect("it has started").elapsed().as_nanos();
        self.dropped.push((name, reason, Nanos(now as u64)));
    }
}

fn engine(pace: Pace, limit: usize) -> Engine<Deadlines, Payload, TimedSink> {
    let queue = Deadlines::new(DeadlineQueue::new(limit));
    let settings = Settings { pace, ..Settings::default() };
    Engine::start(queue, TimedSink::default(), settings).expect("it starts")
}

#[test]
fn what_expires_is_handed_back_at_its_time_while_nothing_may_leave() {
    let engine = engine(Pace::Hold, 10);
    let mut producer = engine.handle().producer().expect("open");
    let now = engine.handle().now();
    let times = [(1, 90_000_000), (2, 10_000_000)].map(|(name, lives)| (name, now + Nanos(lives)));
    for (name, at) in times {
        let terms = Terms { expires: Some(at), ..Terms::default() };
        producer.try_send(packet(0, 0, name), (terms, name)).expect("there is room");
    }
    drop(producer);
    let result = engine.shutdown().expect("no panic");
    let [(first, _, early), (second, _, late)] = result.sink.dropped[..] else {
        panic!("two are dropped");
    };
    assert_eq!((first, second, result.sink.sent.len()), (2, 1, 0));
    for (at, dropped) in [(times[1].1, early), (times[0].1, late)] {
        assert!(dropped >= at, "not before its time");
        assert!(dropped.0 - at.0 < 8_000_000, "{} ns late", dropped.0 - at.0);
    }
    assert_eq!(result.statistics.dropped[DropReason::Late as usize], 2);
}

#[test]
fn datagrams_leave_by_level_and_deadline_and_what_comes_too_late_does_not() {
    let engine = engine(Pace::Hold, 10);
    let mut producer = engine.handle().producer().expect("open");
    let at = |seconds: u64| Some(Nanos(seconds * 1_000_000_000));
    let low = Rank { level: 1, ..Rank::default() };
    let all = [
        (1, Terms { deadline: at(60), rank: low, ..Terms::default() }),
        (2, Terms { deadline: at(120), ..Terms::default() }),
        (3, Terms { deadline: at(90), ..Terms::default() }),
        (4, Terms::default()),
        // By the link's rate it takes 100 ms.
        (5, Terms { deadline: at(200), expires: Some(Nanos(99_000_000)), ..Terms::default() }),
    ];
    for (name, terms) in all {
        producer.try_send(packet(0, 0, name), (terms, name)).expect("there is room");
    }
    while engine.handle().statistics().expect("it runs").received < 5 {}
    engine.handle().set_pace(Pace::Link(Rate(8_000))).expect("a rate");
    drop(producer);
    let result = engine.shutdown().expect("no panic");
    assert_eq!(result.sink.sent, [3, 2, 4, 1]);
    assert_eq!(result.sink.dropped[0].0, 5);
}

#[test]
fn a_full_queue_gives_back_what_comes() {
    let engine = engine(Pace::Hold, 2);
    let mut producer = engine.handle().producer().expect("open");
    for name in 0..5 {
        producer.try_send(packet(0, 0, name), (Terms::default(), name)).expect("there is room");
    }
    while engine.handle().statistics().expect("it runs").received < 5 {}
    engine.handle().set_pace(Pace::Sink).expect("a pace");
    drop(producer);
    let result = engine.shutdown().expect("no panic");
    assert_eq!(result.sink.sent, [0, 1]);
    let full: Vec<_> =
        result.sink.dropped.iter().map(|&(name, reason, _)| (name, reason)).collect();
    assert_eq!(full, [2, 3, 4].map(|name| (name, DropReason::QueueFull)));
}

#[test]
fn each_producer_may_have_room_of_its_own() {
    let engine = Engine::start(
        Fifo::new(),
        RecordingSink::default(),
        Settings { pace: Pace::Hold, ring: 1, ..Settings::default() },
    )
    .expect("it starts");
    let handle = engine.handle();
    let none = handle.producer_with(Room { ring: 1, backlog: 0 });
    assert!(matches!(none, Err(JoinError::Setting(_))));
    let mut wide = handle.producer_with(Room { ring: 64, backlog: 1 }).expect("open");
    // One is in the scheduler and 64 wait in the ring.
    wide.try_send(packet(0, 0, 0), 0).expect("there is room");
    while handle.statistics().expect("it runs").received < 1 {}
    for name in 1..=64 {
        wide.try_send(packet(0, 0, name), name).expect("there is room");
    }
    std::thread::sleep(Duration::from_millis(2));
    assert_eq!(wide.try_send(packet(0, 0, 65), 65).expect_err("it is full").why, Refusal::Full);
    handle.set_pace(Pace::Sink).expect("a pace");
    drop(wide);
    let sink = engine.shutdown().expect("no panic").sink;
    assert_eq!(sink.sent_by(0), (0..=64).collect::<Vec<_>>());
}
