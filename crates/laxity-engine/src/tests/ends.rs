//! Engines that end by themselves.

use std::thread;
use std::time::Duration;

use laxity::packet::Packet;
use laxity::sched::Fifo;
use laxity::scheduler::{Dispatch, DropReason, Scheduler};
use laxity::units::Nanos;

use super::{RecordingSink, packet};
use crate::{Engine, EngineStopped, Refusal, Settings, Sink, WorkerPanic};

/// Takes its time.
#[derive(Debug)]
pub(super) struct Slow {
    pub pause: Duration,
    pub sent: u64,
}

impl Sink<u64> for Slow {
    fn sent(&mut self, _: Dispatch, _: Nanos, _: u64) {
        self.sent += 1;
        thread::sleep(self.pause);
    }

    fn dropped(&mut self, _: Packet, _: DropReason, _: u64) {}
}

/// Panics at a packet.
#[derive(Debug)]
struct Fragile(u64);

impl Sink<u64> for Fragile {
    fn sent(&mut self, dispatch: Dispatch, _: Nanos, _: u64) {
        assert!(dispatch.packet.handle != self.0, "a sink of glass");
    }

    fn dropped(&mut self, _: Packet, _: DropReason, _: u64) {}
}

#[test]
fn a_panic_of_the_sink_is_reported_and_hangs_nobody() {
    let settings = Settings { ring: 2, backlog: 2, burst: 1, ..Settings::default() };
    for at in [0, 1, 50] {
        let engine = Engine::start(Fifo::new(), Fragile(at), settings).unwrap();
        // All join before the first packet can end the engine.
        let producers: Vec<_> = (0..3).map(|_| engine.handle().producer().unwrap()).collect();
        let senders: Vec<_> = (0..)
            .zip(producers)
            .map(|(flow, mut producer)| {
                thread::spawn(move || {
                    for handle in 0.. {
                        if let Err(unsent) = producer.send_or_wait(packet(0, flow, handle), handle)
                        {
                            assert_eq!(unsent.why, Refusal::Stopped);
                            assert_eq!(unsent.payload, handle);
                            assert!(producer.is_stopped());
                            assert!(!producer.send_or_drop(packet(0, flow, handle), handle));
                            return;
                        }
                    }
                })
            })
            .collect();
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        let handle = engine.handle().clone();
        assert_eq!(handle.producer().unwrap_err(), EngineStopped);
        assert_eq!(handle.call(|_, _| ()), Err(EngineStopped));
        let error: WorkerPanic = engine.shutdown().unwrap_err();
        assert_eq!(error.to_string(), "the scheduler thread panicked: a sink of glass");
    }
}

#[test]
fn a_panic_of_a_call_is_reported_to_caller_and_owner() {
    let engine =
        Engine::<_, u64, _>::start(Fifo::new(), RecordingSink::default(), Settings::default());
    let engine = engine.unwrap();
    assert_eq!(engine.handle().call(|_, _| panic!("number {}", 7)), Err::<(), _>(EngineStopped));
    let error = engine.shutdown().unwrap_err();
    assert_eq!(error.to_string(), "the scheduler thread panicked: number 7");
}

#[test]
fn an_engine_that_shuts_down_answers_until_it_has_ended() {
    let engine = Engine::start(Fifo::new(), RecordingSink::default(), Settings::default()).unwrap();
    let mut producer = engine.handle().producer().unwrap();
    let handle = engine.handle().clone();
    let owner = thread::spawn(move || engine.shutdown().unwrap());
    while let Ok(refused_later) = handle.producer() {
        drop(refused_later);
        thread::yield_now();
    }
    assert_eq!(handle.call(|fifo, _| fifo.backlog().packets), Ok(0));
    producer.send_or_wait(packet(0, 0, 1), 1).unwrap();
    drop(producer);
    assert_eq!(owner.join().unwrap().sink.sent_by(0), [1]);
    assert_eq!(handle.call(|_, _| ()), Err(EngineStopped));
    assert!(handle.statistics().is_err());
}

#[test]
fn an_engine_that_is_dropped_still_sends() {
    let (sink, sent) = std::sync::mpsc::channel();
    struct ChannelSink(std::sync::mpsc::Sender<u64>);
    impl Sink<u64> for ChannelSink {
        fn sent(&mut self, _: Dispatch, _: Nanos, payload: u64) {
            self.0.send(payload).unwrap();
        }
        fn dropped(&mut self, _: Packet, _: DropReason, _: u64) {}
    }
    let engine = Engine::start(Fifo::new(), ChannelSink(sink), Settings::default()).unwrap();
    let mut producer = engine.handle().producer().unwrap();
    drop(engine);
    producer.send_or_wait(packet(0, 0, 0), 5).unwrap();
    drop(producer);
    // The channel ends with the thread.
    assert_eq!(Vec::from_iter(sent), [5]);
}

/// The call and the producer that comes after it are answered at once.
#[test]
fn a_producer_that_joins_behind_a_call_that_panics_hears_of_it() {
    let settings = Settings { ring: 2, ..Settings::default() };
    for _ in 0..20 {
        let engine = Engine::start(Fifo::new(), RecordingSink::default(), settings).unwrap();
        let calls = [|| thread::sleep(Duration::from_millis(5)), || panic!("a call of glass")];
        let callers: Vec<_> = calls
            .into_iter()
            .map(|call| {
                let handle = engine.handle().clone();
                let caller = thread::spawn(move || handle.call(move |_, _| call()));
                thread::sleep(Duration::from_millis(1));
                caller
            })
            .collect();
        if let Ok(mut producer) = engine.handle().producer() {
            let mut send = |handle| producer.send_or_wait(packet(0, 0, handle), handle);
            while send(0).is_ok() {}
        }
        let answers: Vec<_> = callers.into_iter().map(|caller| caller.join().unwrap()).collect();
        assert_eq!(answers[1], Err(EngineStopped));
        assert!(engine.shutdown().is_err());
    }
}
