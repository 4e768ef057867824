//! Every order, up to a bound on preemptions, in which threads can meet: a wake-up that is lost
//! leaves all of them asleep, which loom reports; so do packets that are lost or doubled here.

use std::sync::Arc;

use laxity::sched::Fifo;
use laxity::scheduler::Scheduler;
use laxity::units::{Nanos, Rate};

use super::sums::{OnItsWay, most_at_once};
use super::{RecordingSink, packet};
use crate::lane::{Gate, Lane, Shared};
use crate::producer::Producer;
use crate::sync::{AtomicBool, Clock, Ordering, ring};
use crate::{Engine, EngineStopped, Grant, RateShare, Refusal, Settings};

/// Room for one packet everywhere, so that everyone has to wait for everyone.
const SMALLEST: Settings = Settings {
    pace: crate::Pace::Sink,
    spacing: crate::Spacing::EACH,
    ring: 1,
    backlog: 1,
    burst: 1,
    time_one_in: u32::MAX,
};

fn engine() -> Engine<Fifo, u64, RecordingSink> {
    Engine::start(Fifo::new(), RecordingSink::default(), SMALLEST).unwrap()
}

fn send(mut producer: Producer<u64>, flow: u32, packets: u64) {
    for handle in 0..packets {
        producer.send_or_wait(packet(0, flow, handle), handle).unwrap();
    }
}

#[test]
fn loom_a_bell_wakes_a_sleeper() {
    loom::model(|| {
        let gate = Arc::new(Gate::new());
        let done = Arc::new(AtomicBool::new(false));
        let ringer = loom::thread::spawn({
            let (gate, done) = (gate.clone(), done.clone());
            move || {
                done.store(true, Ordering::Relaxed);
                gate.wake();
            }
        });
        while !done.load(Ordering::Relaxed) {
            gate.sleep_unless(|| done.load(Ordering::Relaxed), None);
        }
        ringer.join().unwrap();
    });
}

#[test]
fn loom_one_producer_waits_and_all_arrive() {
    loom::model(|| {
        let engine = engine();
        let producer = engine.handle().producer().unwrap();
        let sender = loom::thread::spawn(move || send(producer, 0, 2));
        let sink = engine.shutdown().unwrap().sink;
        sender.join().unwrap();
        assert_eq!(sink.sent_by(0), [0, 1]);
    });
}

#[test]
fn loom_two_producers_meet() {
    loom::model(|| {
        let engine = engine();
        let producers = [0, 1].map(|_| engine.handle().producer().unwrap());
        let [first, second] = producers;
        let sender = loom::thread::spawn(move || send(first, 0, 1));
        send(second, 1, 1);
        let sink = engine.shutdown().unwrap().sink;
        sender.join().unwrap();
        assert_eq!(sink.sent_by(0), [0]);
        assert_eq!(sink.sent_by(1), [0]);
        assert_eq!(sink.sent.len(), 2);
    });
}

#[test]
fn loom_a_producer_joins_while_the_engine_shuts_down() {
    loom::model(|| {
        let engine = engine();
        let handle = engine.handle().clone();
        let joiner = loom::thread::spawn(move || match handle.producer() {
            Ok(producer) => {
                send(producer, 0, 1);
                1
            }
            Err(EngineStopped) => 0,
        });
        let finished = engine.shutdown().unwrap();
        let sent = joiner.join().unwrap();
        assert_eq!(finished.sink.sent.len(), sent);
        assert_eq!(finished.statistics.sent, sent as u64);
    });
}

#[test]
fn loom_a_call_is_answered_or_refused() {
    loom::model(|| {
        let engine = engine();
        let handle = engine.handle().clone();
        let caller = loom::thread::spawn(move || handle.call(|fifo, _| fifo.backlog().packets));
        engine.shutdown().unwrap();
        let answer = caller.join().unwrap();
        assert!(answer == Ok(0) || answer == Err(EngineStopped));
    });
}

#[test]
fn loom_a_waiting_producer_hears_that_the_engine_has_stopped() {
    loom::model(|| {
        let (writer, reader) = ring(1);
        let (gate, shared) = (Arc::new(Gate::new()), Arc::new(Shared::new()));
        let lane = Lane { reader, capacity: 1, shared: shared.clone() };
        let mut producer = Producer::new(writer, shared, gate.clone(), Clock::start(), 1);
        producer.try_send(packet(0, 0, 0), 0).unwrap();
        let sender = loom::thread::spawn(move || {
            let unsent = producer.send_or_wait(packet(0, 0, 1), 1).unwrap_err();
            assert_eq!((unsent.why, unsent.payload), (Refusal::Stopped, 1));
        });
        gate.stop();
        drop(lane);
        sender.join().unwrap();
    });
}

/// Sends packets that take 10 ns, each as soon as there is a rate for it, and rests.
fn send_at_a_share(mut share: RateShare, packets: u64) -> Vec<OnItsWay> {
    let mut sent = Vec::new();
    let mut ended = Nanos::ZERO;
    for _ in 0..packets {
        let Grant { rate, from } = loop {
            match share.ask(ended, ended) {
                Some(grant) => break grant,
                None => loom::thread::yield_now(),
            }
        };
        ended = from + Nanos(10);
        sent.push(OnItsWay { rate, from, until: ended });
    }
    share.rest(ended);
    sent
}

#[test]
fn loom_shares_of_a_rate_never_sum_to_more() {
    loom::model(|| {
        let mut shares = RateShare::of_link(Rate(100), 2).into_iter();
        let [first, second] = [(); 2].map(|()| shares.next().unwrap());
        let sender = loom::thread::spawn(move || send_at_a_share(first, 2));
        let mut sent = send_at_a_share(second, 2);
        sent.extend(sender.join().unwrap());
        assert_eq!(sent.len(), 4);
        assert!(most_at_once(&sent) <= 100, "{sent:?}");
        assert!(sent.iter().all(|packet| packet.rate >= Rate(50)));
    });
}
