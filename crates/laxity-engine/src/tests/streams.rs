//! Streams that ask before they send.

use std::time::{Duration, Instant};

use laxity::admit::edf::RealTime;
use laxity::packet::Packet;
use laxity::police::TokenBucket;
use laxity::reserve::edf::Refusal;
use laxity::reserve::streams::{EdfStreams, Link, Unpromised};
use laxity::sched::Fifo;
use laxity::scheduler::{Backlog, Dispatch, DropSink, Scheduler};
use laxity::units::{Bytes, Nanos, Rate};

use super::{RecordingSink, packet};
use crate::{Engine, EngineStopped, Pace, Producer, Settings, Stream, StreamError, Streams};

const RATE: Rate = Rate(80_000_000);
const LINK: Link = Link { rate: RATE, latency: Nanos(1_000_000), max_packet: Bytes(1_500) };

/// Streams with this rate are refused before they fill the link for ever.
const RATES: u64 = 1_100_000;

fn contract(rate: u64) -> RealTime {
    RealTime {
        deadline: Nanos(20_000_000),
        arrival: vec![TokenBucket { bucket: Bytes(2_000), rate: Rate(rate) }],
        packet: Bytes(1_000),
    }
}

fn start(unpromised: Unpromised) -> Engine<EdfStreams, u64, RecordingSink> {
    let settings = Settings { pace: Pace::Link(RATE), burst: 1, ..Settings::default() };
    Engine::start(EdfStreams::new(LINK, unpromised), RecordingSink::default(), settings).unwrap()
}

/// Streams until one is refused, and why it is.
fn fill(
    streams: &Streams<EdfStreams, u64>,
    producer: &Producer<u64>,
) -> (Vec<Stream<EdfStreams, u64>>, Refusal) {
    let mut granted = Vec::new();
    loop {
        match streams.admit(producer, &contract(RATES)) {
            Ok(stream) => granted.push(stream),
            Err(StreamError::Refused(refusal)) => return (granted, refusal),
            Err(StreamError::Stopped(stopped)) => panic!("{stopped}"),
        }
    }
}

/// Asks the scheduler until it says yes, for ten seconds.
fn until(
    engine: &Engine<EdfStreams, u64, RecordingSink>,
    is_so: impl Fn(&mut EdfStreams) -> bool + Clone + Send + 'static,
) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(10) {
        let is_so = is_so.clone();
        if engine.handle().call(move |scheduler, _| is_so(scheduler)).unwrap() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

#[test]
fn as_many_are_granted_as_the_whole_link_is_admitted_with() {
    for unpromised in [Unpromised::None, Unpromised::Background, Unpromised::Exact] {
        let engine = start(unpromised);
        let streams = Streams::new(engine.handle()).unwrap();
        let producer = engine.handle().producer().unwrap();
        let (granted, refusal) = fill(&streams, &producer);
        let mut system = engine.handle().call(|scheduler, _| scheduler.system()).unwrap();
        assert_eq!(system.real_time.len(), granted.len());
        assert!(system.test(&system.effective_residual_capacity()).admitted);
        system.real_time.push(contract(RATES));
        assert!(!system.test(&laxity::curve::Curve::zero()).admitted);
        let Refusal::NoRoom(offers) = refusal else { panic!("{refusal}") };
        let smaller = contract(offers.rate.unwrap().0);
        assert!(streams.admit(&producer, &smaller).is_ok());
    }
}

#[test]
fn a_stream_that_is_dropped_gives_its_place_back_behind_its_packets() {
    let engine = start(Unpromised::Exact);
    let streams = Streams::new(engine.handle()).unwrap();
    let producer = engine.handle().producer().unwrap();
    let (mut granted, _) = fill(&streams, &producer);
    let leaver = granted.pop().unwrap();
    leaver.wait().unwrap();
    let mut producer = producer;
    for handle in 0..2 {
        producer.try_send(Packet { handle, ..leaver.packet(1_000) }, handle).unwrap();
    }
    drop(leaver);
    let others = granted.len();
    assert!(until(&engine, move |scheduler| scheduler.len() == others));
    let before = engine.handle().call(|_, now| now).unwrap();
    let next = streams.admit(&producer, &contract(RATES)).unwrap();
    // A longest packet alone takes 0.15 ms, beside the latency of 1 ms.
    assert!(next.from() > before + Nanos(1_150_000));
    drop(next);
    drop((producer, granted));
    let finished = engine.shutdown().unwrap();
    assert_eq!(finished.sink.sent_by(0), [0, 1]);
    assert!(finished.sink.sent.iter().all(|(dispatch, _)| dispatch.deadline.is_some()));
    assert!(finished.scheduler.is_empty());
}

#[test]
fn best_effort_has_deadlines_again_when_streams_have_come() {
    let engine = start(Unpromised::Exact);
    let streams = Streams::new(engine.handle()).unwrap();
    let producer = engine.handle().producer().unwrap();
    let mut producer = producer;
    let _stream = streams.admit(&producer, &contract(RATES)).unwrap();
    assert!(until(&engine, |scheduler| {
        scheduler.next_change().is_none() && scheduler.residual().is_none()
    }));
    producer.try_send(packet(0, 0, 3), 3).unwrap();
    drop(producer);
    let sink = engine.shutdown().unwrap().sink;
    assert!(sink.sent[0].0.deadline.is_some());
}

#[test]
fn a_change_gives_a_stream_another_contract_or_leaves_it() {
    let engine = start(Unpromised::Background);
    let streams = Streams::new(engine.handle()).unwrap();
    let producer = engine.handle().producer().unwrap();
    let mut stream = streams.admit(&producer, &contract(50_000_000)).unwrap();
    let from = stream.from();
    let refused = stream.change(&contract(90_000_000));
    assert!(matches!(refused, Err(StreamError::Refused(Refusal::NoRoom(_)))), "{refused:?}");
    assert_eq!(stream.from(), from);
    stream.change(&contract(60_000_000)).unwrap();
    assert!(stream.from() > from);
    let rates = engine.handle().call(|scheduler, _| scheduler.system().real_time);
    assert_eq!(rates.unwrap()[0].arrival[0].rate, Rate(60_000_000));
}

/// Counts the packets that come.
#[derive(Default)]
struct Counting {
    fifo: Fifo,
    count: u64,
}

impl Scheduler for Counting {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.count += 1;
        self.fifo.enqueue(now, packet, drops);
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        self.fifo.dequeue(now, drops)
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn footprint(&self) -> usize {
        self.fifo.footprint()
    }
}

#[test]
fn a_call_behind_packets_finds_all_that_were_sent_before() {
    let settings = Settings { backlog: 1, burst: 1, ..Settings::default() };
    let engine = Engine::start(Counting::default(), RecordingSink::default(), settings).unwrap();
    let mut producers = [0, 1, 2].map(|_| engine.handle().producer().unwrap());
    let (answer, reply) = std::sync::mpsc::channel();
    for round in 1..=100 {
        for (producer, packets) in producers.iter_mut().zip([10, 1, 0]) {
            for handle in 0..packets {
                producer.send_or_wait(packet(0, 0, handle), handle).unwrap();
            }
            let answer = answer.clone();
            let call = move |scheduler: &mut Counting, _| answer.send(scheduler.count).unwrap();
            engine.handle().call_behind_packets(producer, call).unwrap();
            assert!(reply.recv().unwrap() >= 11 * (round - 1) + packets);
        }
    }
    let [first, second, third] = producers;
    let (handle, settled) = (engine.handle().clone(), answer.clone());
    let call = move |scheduler: &mut Counting, _| settled.send(scheduler.count).unwrap();
    handle.call_behind_packets(&first, call).unwrap();
    assert_eq!(reply.recv(), Ok(1_100));
    let other = Engine::start(Fifo::new(), RecordingSink::default(), settings).unwrap();
    let stranger = other.handle().producer().unwrap();
    drop((first, second, third));
    engine.shutdown().unwrap();
    assert_eq!(handle.call_behind_packets(&stranger, |_, _| {}), Err(EngineStopped));
}
