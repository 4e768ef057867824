//! What is sent arrives once, in order, with its marks, in few calls.

use std::net::UdpSocket;
use std::time::Instant;

use laxity::packet::{Ecn, Packet};
use laxity::sched::Fifo;
use laxity::units::{Nanos, Rate};
use laxity_engine::{Engine, Pace, Settings, Sink, Spacing};

use super::receiver::Receiver;
use super::{Recorder, send, send_datagram, sink};
use crate::{Datagram, UdpSettings, UdpSink};

#[test]
fn what_is_flushed_together_arrives_once_and_in_order_in_one_call() {
    let (v4, v6) = ("127.0.0.1:0", "[::1]:0");
    for (from, at) in [(v4, v4), (v6, v6), ("[::]:0", v4)] {
        let receivers = [Receiver::bind(at), Receiver::bind(at)];
        let mut sink = sink(from, UdpSettings::default());
        // Runs of one destination and length, and single datagrams between them.
        let mut expected = [Vec::new(), Vec::new()];
        for number in 0..60 {
            let place = usize::from(number / 7 % 2 == 1);
            let length = if number % 13 == 0 { 300 } else { 1_000 };
            send(&mut sink, number, length, receivers[place].address());
            expected[place].push(number);
        }
        sink.flush();
        assert_eq!(receivers.map(|receiver| receiver.numbers()), expected, "{from} to {at}");
        let statistics = sink.statistics();
        assert_eq!((statistics.taken, statistics.sent, statistics.calls), (60, 60, 1));
        assert!(statistics.messages < 25, "{} messages", statistics.messages);
        assert_eq!(sink.observer().sent, (0..60).collect::<Vec<_>>());
    }
}

#[test]
fn without_segmentation_each_datagram_is_a_message() {
    let receiver = Receiver::bind("127.0.0.1:0");
    let settings = UdpSettings { segmentation: None, ..UdpSettings::default() };
    let mut sink = sink("127.0.0.1:0", settings);
    (0..100).for_each(|number| send(&mut sink, number, 1_000, receiver.address()));
    sink.flush();
    assert_eq!(receiver.numbers(), (0..100).collect::<Vec<_>>());
    assert_eq!((sink.statistics().calls, sink.statistics().messages), (2, 100));
}

#[test]
fn each_datagram_has_its_own_code_point_and_ecn() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let receiver = Receiver::bind(address);
        let mut sink = sink(address, UdpSettings::default());
        let marks = [
            (46, Ecn::NotCapable, 0xB8),
            (46, Ecn::NotCapable, 0xB8),
            (34, Ecn::L4s, 0x89),
            (0, Ecn::Capable, 0x02),
            (0, Ecn::NotCapable, 0),
            (63, Ecn::Experienced, 0xFF),
        ];
        for (number, (dscp, ecn, _)) in marks.into_iter().enumerate() {
            let datagram = Datagram { dscp, ..Datagram::new(vec![0; 100], receiver.address()) };
            send_datagram(&mut sink, number as u64, datagram, Packet { ecn, ..Packet::default() });
        }
        sink.flush();
        let classes: Vec<u8> = receiver.all().iter().map(|one| one.traffic_class).collect();
        assert_eq!(classes, marks.map(|(.., class)| class), "{address}");
    }
}

#[test]
fn each_datagram_goes_by_its_socket() {
    let receiver = UdpSocket::bind("127.0.0.1:0").expect("bound");
    let sockets = [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").expect("bound"));
    let senders = sockets.each_ref().map(|socket| socket.local_addr().expect("bound"));
    let sink = UdpSink::new(sockets, UdpSettings::default()).expect("they take the settings");
    let mut sink = sink.with_observer(Recorder::default());
    sink.start(Instant::now());
    let to = receiver.local_addr().expect("bound");
    for socket in [1, 0] {
        let datagram = Datagram { socket, ..Datagram::new(vec![socket as u8; 10], to) };
        send_datagram(&mut sink, 0, datagram, Packet::default());
    }
    sink.flush();
    for _ in 0..2 {
        let mut bytes = [0; 10];
        let (_, from) = receiver.recv_from(&mut bytes).expect("one comes");
        assert_eq!(from, senders[usize::from(bytes[0])]);
    }
}

#[test]
fn the_kernel_says_when_datagrams_have_left() {
    let receiver = Receiver::bind("127.0.0.1:0");
    let settings = UdpSettings { departures: true, ..UdpSettings::default() };
    let mut sink = sink("127.0.0.1:0", settings);
    let begun = Instant::now();
    for number in 0..40 {
        // Two of three datagrams are in messages of two.
        let length = if number % 3 == 0 { 200 } else { 100 };
        send(&mut sink, number, length, receiver.address());
    }
    sink.flush();
    sink.read_reports();
    let departed = &sink.observer().departed;
    let mut handles: Vec<u64> = departed.iter().map(|one| one.handle).collect();
    handles.sort_unstable();
    assert_eq!(handles, (0..40).collect::<Vec<_>>());
    // The clocks are read one after the other.
    let most = Nanos(begun.elapsed().as_nanos() as u64 + 1_000_000);
    assert!(departed.iter().all(|one| Nanos::ZERO < one.left && one.left < most), "{departed:?}");
    assert_eq!(sink.statistics().departures.count(), 40);
}

#[test]
fn an_engine_sends_at_its_rate_in_few_calls() {
    let receiver = Receiver::bind("127.0.0.1:0");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("bound");
    let sink = UdpSink::new([socket], UdpSettings::default()).expect("it takes the settings");
    let (pace, spacing) = (Pace::Link(Rate(200_000_000)), Spacing::MILLISECOND);
    let settings = Settings { pace, spacing, ..Settings::default() };
    let engine = Engine::start(Fifo::new(), sink, settings).expect("it starts");
    let mut producer = engine.handle().producer().expect("open");
    let begun = Instant::now();
    for number in 0..2_000_u64 {
        let mut bytes = vec![0; 1_000];
        bytes[..8].copy_from_slice(&number.to_ne_bytes());
        let packet = Packet { length: 1_000, ..Packet::default() };
        let datagram = Datagram::new(bytes, receiver.address());
        producer.send_or_wait(packet, datagram).expect("it runs");
    }
    drop(producer);
    let statistics = engine.shutdown().expect("no panic").sink.statistics().clone();
    let took = begun.elapsed();
    assert_eq!(receiver.numbers(), (0..2_000).collect::<Vec<_>>());
    assert_eq!((statistics.sent, statistics.all_lost()), (2_000, 0));
    assert!(statistics.calls * 5 < statistics.sent, "{} calls", statistics.calls);
    // 16 Mbit, less a batch.
    assert!(took.as_micros() > 79_000, "{took:?}");
}
