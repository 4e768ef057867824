//! Every order, up to a bound on preemptions, in which threads can meet: a wake-up that is lost
//! leaves all of them asleep, which loom reports; so do packets that are lost or doubled here.

use std::sync::Arc;

use laxity::sched::Fifo;
use laxity::scheduler::Scheduler;

use super::{RecordingSink, packet};
use crate::lane::{Gate, Lane, Shared};
use crate::producer::Producer;
use crate::sync::{AtomicBool, Clock, Ordering, ring};
use crate::{Engine, EngineStopped, Refusal, Settings};

/// Room for one packet everywhere, so that everyone has to wait for everyone.
const SMALLEST: Settings =
    Settings { pace: crate::Pace::Sink, ring: 1, backlog: 1, burst: 1, time_one_in: u32::MAX };

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
