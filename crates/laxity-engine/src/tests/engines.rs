//! Several producers, every policy and pace.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use laxity::aqm::{DropTail, Limit};
use laxity::packet::{ClassId, Packet};
use laxity::sched::edf::{Assign, BestEffort};
use laxity::sched::{Edf, Fifo, Wfq};
use laxity::scheduler::{Backlog, Dispatch, DropReason, DropSink, Scheduler};
use laxity::units::{Bytes, Nanos, Rate};
use proptest::prelude::*;

use super::{RecordingSink, packet};
use crate::{Engine, EngineResult, Pace, Refusal, SendError, Settings};

fn finish<S: Scheduler + Send + 'static>(
    engine: Engine<S, u64, RecordingSink>,
) -> EngineResult<S, RecordingSink> {
    let finished = engine.shutdown().unwrap();
    let statistics = &finished.statistics;
    let dropped: u64 = statistics.dropped.iter().sum();
    assert_eq!(statistics.received, statistics.sent + dropped);
    assert_eq!(finished.sink.sent.len() as u64, statistics.sent);
    assert_eq!(finished.sink.dropped.len() as u64, dropped);
    finished
}

#[test]
fn nothing_is_lost_or_doubled_whatever_the_ring() {
    for (ring, backlog, burst, packets) in
        [(1, 1, 1, 2_000), (1, 100, 64, 2_000), (7, 3, 2, 20_000), (1024, 4096, 64, 100_000)]
    {
        let settings = Settings { ring, backlog, burst, ..Settings::default() };
        let engine = Engine::start(Fifo::new(), RecordingSink::default(), settings).unwrap();
        let senders: Vec<_> = (0..4)
            .map(|flow| {
                let mut producer = engine.handle().producer().unwrap();
                thread::spawn(move || {
                    for handle in 0..packets {
                        producer.send_or_wait(packet(0, flow, handle), handle * 3).unwrap();
                    }
                })
            })
            .collect();
        let EngineResult { sink, statistics, .. } = finish(engine);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        for flow in 0..4 {
            assert_eq!(sink.sent_by(flow), Vec::from_iter(0..packets));
        }
        assert!(sink.sent.iter().all(|(sent, payload)| *payload == sent.packet.handle * 3));
        assert_eq!(statistics.producers, 4);
        assert_eq!(statistics.bytes_sent, 400 * packets);
        assert!(statistics.latency.count() >= 4 * packets / 32, "{statistics:?}");
    }
}

/// Packets of classes that there are not come back as such, and the others are sent.
#[test]
fn packets_of_no_class_do_no_harm() {
    let engine = Engine::start(
        Wfq::new(Rate(1_000_000), &[1, 2]).unwrap(),
        RecordingSink::default(),
        Settings::default(),
    );
    let engine = engine.unwrap();
    let mut producer = engine.handle().producer().unwrap();
    for (handle, class) in [0, 2, 1, u32::MAX, 70_000, 0].into_iter().enumerate() {
        producer.send_or_wait(packet(class, 0, handle as u64), 7).unwrap();
    }
    drop(producer);
    let EngineResult { sink, statistics, .. } = finish(engine);
    let mut sent = sink.sent_by(0);
    sent.sort_unstable();
    assert_eq!(sent, [0, 2, 5]);
    let dropped: Vec<_> =
        sink.dropped.iter().map(|(packet, reason, _)| (packet.handle, *reason)).collect();
    assert_eq!(dropped, [1, 3, 4].map(|handle| (handle, DropReason::NoClass)));
    assert_eq!(statistics.received, 6);
}

/// A sink that says when it has a packet, and holds it until it is told to go on.
struct GatedSink {
    entered: mpsc::Sender<()>,
    opened: mpsc::Receiver<()>,
    kept: RecordingSink,
}

impl crate::Sink<u64> for GatedSink {
    fn sent(&mut self, dispatch: Dispatch, starts_at: Nanos, payload: u64) {
        // The test drops its ends when it has seen enough.
        let _ = self.entered.send(());
        let _ = self.opened.recv();
        self.kept.sent(dispatch, starts_at, payload);
    }

    fn dropped(&mut self, packet: Packet, reason: DropReason, payload: u64) {
        self.kept.dropped(packet, reason, payload);
    }
}

#[test]
fn a_full_ring_is_seen_by_its_producer() {
    let ((enter, entered), (open, opened)) = (mpsc::channel(), mpsc::channel());
    let settings = Settings { ring: 4, ..Settings::default() };
    let sink = GatedSink { entered: enter, opened, kept: RecordingSink::default() };
    let engine = Engine::start(Fifo::new(), sink, settings).unwrap();
    let mut producer = engine.handle().producer().unwrap();

    producer.try_send(packet(0, 0, 0), 0).unwrap();
    entered.recv().unwrap();
    for handle in 1..=4 {
        producer.try_send(packet(0, 0, handle), handle).unwrap();
    }
    let unsent = producer.try_send(packet(0, 0, 5), 50).unwrap_err();
    assert_eq!(unsent, SendError { packet: packet(0, 0, 5), payload: 50, why: Refusal::Full });
    assert!(!producer.send_or_drop(packet(0, 0, 6), 6));
    let waiter = thread::spawn(move || producer.send_or_wait(packet(0, 0, 7), 7).unwrap());
    assert_eq!(entered.try_recv(), Err(mpsc::TryRecvError::Empty));
    drop(open);
    waiter.join().unwrap();
    let EngineResult { sink, statistics, .. } = engine.shutdown().unwrap();
    assert_eq!(sink.kept.sent_by(0), [0, 1, 2, 3, 4, 7]);
    assert_eq!(statistics.ring_dropped, 1);
    assert!(statistics.ring_full >= 2);
}

#[test]
fn shutdown_waits_for_what_is_in_flight() {
    for slow in [Duration::ZERO, Duration::from_micros(200)] {
        let sink = crate::tests::ends::Slow { pause: slow, sent: 0 };
        let settings = Settings { burst: 1, ..Settings::default() };
        let engine = Engine::start(Fifo::new(), sink, settings).unwrap();
        let mut producer = engine.handle().producer().unwrap();
        for handle in 0..500 {
            producer.try_send(packet(0, 0, handle), handle).unwrap();
        }
        drop(producer);
        let finished = engine.shutdown().unwrap();
        assert_eq!((finished.sink.sent, finished.statistics.sent), (500, 500));
        assert_eq!(finished.scheduler.backlog(), Backlog::default());
    }
}

#[test]
fn producers_join_and_leave_while_others_send() {
    let engine = Engine::start(Fifo::new(), RecordingSink::default(), Settings::default()).unwrap();
    let stayers: Vec<_> = (0..2)
        .map(|flow| {
            let mut producer = engine.handle().producer().unwrap();
            thread::spawn(move || {
                for handle in 0..50_000 {
                    producer.send_or_wait(packet(0, flow, handle), handle).unwrap();
                }
            })
        })
        .collect();
    let handle = engine.handle().clone();
    let visitors = thread::spawn(move || {
        for flow in 2..102 {
            let mut producer = handle.producer().unwrap();
            for number in 0..20 {
                producer.send_or_wait(packet(0, flow, number), number).unwrap();
            }
        }
        handle.statistics().unwrap()
    });
    let meanwhile = visitors.join().unwrap();
    stayers.into_iter().for_each(|stayer| stayer.join().unwrap());
    let EngineResult { sink, statistics, .. } = finish(engine);
    assert_eq!(meanwhile.producers, 102);
    assert_eq!(meanwhile.received, meanwhile.sent + meanwhile.queued);
    assert_eq!(statistics.sent, 100_000 + 2_000);
    for flow in 2..102 {
        assert_eq!(sink.sent_by(flow), Vec::from_iter(0..20));
    }
}

#[test]
fn a_call_reaches_the_scheduler_between_packets() {
    let engine =
        Engine::start(Edf::new(&[], background()), RecordingSink::default(), Settings::default());
    let engine = engine.unwrap();
    let classes = [Some(Nanos(1_000_000)), Some(Nanos(2_000_000))];
    let before = engine.handle().call(move |edf, now| {
        let before = edf.backlog().packets;
        *edf = Edf::new(&classes, background());
        (before, now)
    });
    let (packets, now) = before.unwrap();
    assert_eq!(packets, 0);
    assert!(now > Nanos::ZERO);
    let mut producer = engine.handle().producer().unwrap();
    producer.send_or_wait(packet(1, 0, 7), 7).unwrap();
    drop(producer);
    assert_eq!(finish(engine).sink.sent_by(0), [7]);
}

fn background() -> BestEffort {
    BestEffort::by_arrival(Assign::Background)
}

/// Sends packets a while after they have come, and as they came.
struct DelayedFifo {
    fifo: Fifo,
    time: Nanos,
}

impl Scheduler for DelayedFifo {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.fifo.enqueue(now, packet, drops);
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        self.next_ready(now).filter(|&ready| ready <= now)?;
        self.fifo.dequeue(now, drops)
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.fifo.front().map(|packet| now.max(packet.arrival + self.time))
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn footprint(&self) -> usize {
        self.fifo.footprint()
    }
}

#[test]
fn a_scheduler_that_holds_packets_is_woken_for_them() {
    let scheduler = DelayedFifo { fifo: Fifo::new(), time: Nanos(5_000_000) };
    let settings = Settings { time_one_in: 1, ..Settings::default() };
    let engine = Engine::start(scheduler, RecordingSink::default(), settings).unwrap();
    let mut producer = engine.handle().producer().unwrap();
    for handle in 0..10 {
        producer.send_or_wait(packet(0, 0, handle), handle).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
    drop(producer);
    let EngineResult { sink, statistics, .. } = finish(engine);
    assert_eq!(sink.sent_by(0), Vec::from_iter(0..10));
    assert_eq!(statistics.latency.count(), 10);
    assert!(statistics.latency.min() >= Nanos(5_000_000));
}

/// Seconds that a link of 80 Mbit/s takes for 500 packets of 2 kB, 0.2 ms each.
fn time_on_a_link() -> f64 {
    let settings = Settings { pace: Pace::Link(Rate(80_000_000)), ..Settings::default() };
    let engine = Engine::start(Fifo::new(), RecordingSink::default(), settings).unwrap();
    let mut producer = engine.handle().producer().unwrap();
    let begin = Instant::now();
    for handle in 0..500 {
        let packet = Packet { length: 2_000, ..packet(0, 0, handle) };
        producer.send_or_wait(packet, handle).unwrap();
    }
    drop(producer);
    finish(engine);
    begin.elapsed().as_secs_f64()
}

#[test]
fn a_link_is_kept_busy_and_not_overrun() {
    // The last packet goes to the sink when it starts.
    let expected = Rate(80_000_000).time_for(Bytes(499 * 2_000)).as_secs_f64();
    let times: Vec<_> = (0..5).map(|_| time_on_a_link()).collect();
    assert!(times.iter().all(|&time| time >= expected), "{times:?} for {expected}");
    // What the engine does by itself shows when other programs leave it the processors: in the
    // fastest run. 5 % are a delay of 5 ms at the last packet; earlier ones are made up for.
    let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(fastest <= expected * 1.05, "{times:?} for {expected}");
}

#[test]
fn bad_settings_are_refused() {
    let start = |settings| {
        Engine::<_, u64, _>::start(Fifo::new(), RecordingSink::default(), settings)
            .unwrap_err()
            .to_string()
    };
    let default = Settings::default();
    assert_eq!(
        start(Settings { ring: 0, ..default }),
        "a ring of 0 packets cannot be had: it holds 1 to 16777216"
    );
    assert_eq!(
        start(Settings { backlog: usize::MAX, ..default }),
        format!("a backlog of {} packets cannot be had: it holds 1 to 16777216", usize::MAX)
    );
    assert_eq!(start(Settings { burst: 0, ..default }), "burst is zero: it must be at least 1");
    assert_eq!(
        start(Settings { time_one_in: 0, ..default }),
        "time_one_in is zero: it must be at least 1"
    );
    assert_eq!(
        start(Settings { pace: Pace::Link(Rate(0)), ..default }),
        "link rate is zero: it must be at least 1"
    );
}

/// The same packets given to the scheduler by one thread, with nothing in between.
fn alone<S: Scheduler>(mut scheduler: S, packets: &[Packet]) -> (Vec<u64>, Vec<u64>) {
    let mut dropped = Vec::new();
    let mut drops = |packet: Packet, _| dropped.push(packet.handle);
    for &packet in packets {
        scheduler.enqueue(Nanos::ZERO, packet, &mut drops);
    }
    let sent = std::iter::from_fn(|| scheduler.dequeue(Nanos::ZERO, &mut drops));
    let sent = sent.map(|dispatch| dispatch.packet.handle).collect();
    (sent, dropped)
}

/// A scheduler that sends nothing until `missing` more packets have arrived. What it does then does
/// not depend on when the threads ran. Its time stands still.
struct AfterAll<S> {
    scheduler: S,
    missing: usize,
}

impl<S: Scheduler> Scheduler for AfterAll<S> {
    fn enqueue(&mut self, _: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.missing -= 1;
        self.scheduler.enqueue(Nanos::ZERO, Packet { arrival: Nanos::ZERO, ..packet }, drops);
    }

    fn dequeue(&mut self, _: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        if self.missing > 0 { None } else { self.scheduler.dequeue(Nanos::ZERO, drops) }
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        (self.missing == 0 && self.backlog().packets > 0).then_some(now)
    }

    fn backlog(&self) -> Backlog {
        self.scheduler.backlog()
    }

    fn footprint(&self) -> usize {
        self.scheduler.footprint()
    }
}

/// Sends the packets through an engine by one producer a class, and gives the handles that were
/// sent and dropped.
fn through_engine<S: Scheduler + Send + 'static>(
    scheduler: S,
    packets: &[Packet],
    ring: usize,
) -> (Vec<u64>, Vec<u64>) {
    let scheduler = AfterAll { scheduler, missing: packets.len() };
    let settings = Settings { ring, backlog: packets.len().max(1), ..Settings::default() };
    let engine = Engine::start(scheduler, RecordingSink::default(), settings).unwrap();
    thread::scope(|scope| {
        for class in 0..CLASSES {
            let mut producer = engine.handle().producer().unwrap();
            let own = packets.iter().filter(move |packet| packet.class == ClassId(class));
            scope.spawn(move || {
                own.for_each(|&packet| producer.send_or_wait(packet, packet.handle).unwrap());
            });
        }
    });
    let RecordingSink { sent, dropped } = finish(engine).sink;
    assert!(sent.iter().all(|(dispatch, payload)| dispatch.packet.handle == *payload));
    assert!(dropped.iter().all(|(packet, reason, payload)| {
        (packet.handle, *reason) == (*payload, DropReason::QueueFull)
    }));
    let sent = sent.into_iter().map(|(_, payload)| payload).collect();
    (sent, dropped.into_iter().map(|(.., payload)| payload).collect())
}

const CLASSES: u32 = 3;

fn workload() -> impl Strategy<Value = Vec<Packet>> {
    prop::collection::vec((0..CLASSES, 40u32..1_500), 0..120).prop_map(|packets| {
        let numbered = (0..).zip(packets);
        numbered.map(|(n, (class, length))| Packet { length, ..packet(class, 0, n) }).collect()
    })
}

fn sorted(mut handles: Vec<u64>) -> Vec<u64> {
    handles.sort_unstable();
    handles
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Their order among classes does not depend on the order in which classes' packets came.
    #[test]
    fn schedulers_do_in_an_engine_what_they_do_alone(packets in workload(), ring in 1usize..20) {
        let edf = || Edf::new(&[Some(Nanos(3)), Some(Nanos(1)), Some(Nanos(2))], background());
        prop_assert_eq!(through_engine(edf(), &packets, ring), alone(edf(), &packets));
    }

    /// What a class may queue is not another's matter, so the same packets are dropped.
    #[test]
    fn drops_come_back_with_their_payloads(packets in workload(), ring in 1usize..20) {
        let limits = vec![Limit::Packets(5), Limit::Bytes(4_000), Limit::None];
        let queue = || DropTail::new(Fifo::new(), limits.clone());
        let (sent, dropped) = through_engine(queue(), &packets, ring);
        let (sent_alone, dropped_alone) = alone(queue(), &packets);
        prop_assert_eq!(sorted(sent), sorted(sent_alone));
        prop_assert_eq!(sorted(dropped), sorted(dropped_alone));
    }
}
