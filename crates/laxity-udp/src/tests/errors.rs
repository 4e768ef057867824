//! What the kernel does not take is counted, and nothing else is lost or doubled.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use laxity::units::Nanos;
use laxity_engine::Sink;
use laxity_linux::namespace::Namespace;

use super::receiver::Receiver;
use super::{send, send_datagram, sink};
use crate::{Datagram, Loss, UdpSettings};

#[test]
fn a_datagram_that_cannot_be_sent_holds_up_no_other() {
    let receiver = Receiver::bind("127.0.0.1:0");
    let mut sink = sink("127.0.0.1:0", UdpSettings::default());
    send(&mut sink, 0, 100, receiver.address());
    send(&mut sink, 1, 65_508, receiver.address());
    send(&mut sink, 2, 100, receiver.address());
    // A socket of the other family cannot send there.
    send(&mut sink, 3, 100, "[2001:db8::1]:1".parse().expect("an address"));
    send(&mut sink, 4, 100, receiver.address());
    let elsewhere = Datagram { socket: 7, ..Datagram::new(vec![0; 8], receiver.address()) };
    send_datagram(&mut sink, 5, elsewhere, Default::default());
    sink.flush();
    assert_eq!(receiver.numbers(), [0, 2, 4]);
    assert_eq!(sink.observer().sent, [0, 2, 4]);
    let lost = [(5, Loss::NoSocket), (1, Loss::TooLong), (3, Loss::Other)];
    assert_eq!(sink.observer().lost, lost);
    let statistics = sink.statistics();
    assert_eq!((statistics.taken, statistics.sent, statistics.all_lost()), (6, 3, 3));
}

/// An error that an earlier datagram has brought back from its port is not taken for one of those
/// that follow.
#[test]
fn a_closed_port_costs_other_destinations_nothing() {
    let receiver = Receiver::bind("127.0.0.1:0");
    let closed = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let closed = closed.expect("bound");
    let settings = UdpSettings { local_drops: true, departures: true, ..UdpSettings::default() };
    let mut sink = sink("127.0.0.1:0", settings);
    send(&mut sink, 0, 100, receiver.address());
    sink.flush();
    let socket = sink.sockets().next().expect("one");
    socket.send_to(&[0; 100], closed).expect("it is only refused later");
    std::thread::sleep(Duration::from_millis(5));
    (1..10).for_each(|number| send(&mut sink, number, 100, receiver.address()));
    sink.flush();
    sink.read_reports();
    assert_eq!(receiver.numbers(), (0..10).collect::<Vec<_>>());
    assert_eq!(sink.observer().sent, (0..10).collect::<Vec<_>>());
    assert_eq!((sink.statistics().repeated, sink.statistics().all_lost()), (1, 0));
    // The kernel has counted the other datagram, too, and numbers messages anew: the time of that
    // one is not taken for the time of those that follow.
    let departed = &sink.observer().departed;
    let handles = departed.iter().map(|one| one.handle);
    assert_eq!(handles.collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
    assert!(departed[1].left.saturating_sub(departed[0].left) >= Nanos(5_000_000));
}

/// A namespace, or `None` where that is not allowed, and then it says so.
fn namespace() -> Option<Namespace> {
    match Namespace::new() {
        Ok(namespace) => Some(namespace),
        Err(error) if error.is_permission() => {
            eprintln!("SKIPPED: {error}; run as root or within `unshare -Urn`");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn datagrams_that_are_too_long_for_the_path_go_one_by_one() {
    let Some(here) = namespace() else { return };
    here.mtu("lo", 1_000).expect("a size");
    let test = || {
        let receiver = Receiver::bind("127.0.0.1:0");
        let mut sink = sink("127.0.0.1:0", UdpSettings::default());
        for (number, length) in (0..20).map(|number| (number, 1_200)).chain([(20, 500), (21, 500)])
        {
            send(&mut sink, number, length, receiver.address());
        }
        sink.flush();
        assert_eq!(receiver.numbers(), (0..22).collect::<Vec<_>>());
        let statistics = sink.statistics();
        assert_eq!((statistics.sent, statistics.not_segmented), (22, 1));
        assert_eq!(statistics.messages, 21, "shorter ones are still put together");
    };
    here.run(test).expect("entered");
}

#[test]
fn what_finds_no_room_in_time_is_lost_and_what_waits_long_enough_is_not() {
    let Some(here) = namespace() else { return };
    let there = Namespace::new().expect("another");
    here.veth("a", &there, "b").expect("a cable");
    let address = |last| IpAddr::from([10, 0, 0, last]);
    here.address("a", address(1), 24).expect("an address");
    there.address("b", address(2), 24).expect("an address");
    let shape = "qdisc replace dev a root tbf rate 10mbit burst 5kb limit 1000000";
    let shaped = here.run(|| std::process::Command::new("tc").args(shape.split(' ')).status());
    if !shaped.expect("entered").is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: tc with tbf is missing");
        return;
    }
    let receiver = there.run(|| Receiver::bind("10.0.0.2:0")).expect("entered");
    let to: SocketAddr = receiver.address();
    // The buffer holds some ten datagrams. A datagram takes a millisecond.
    for (patience, loses) in [(0, true), (50_000_000, false)] {
        let settings =
            UdpSettings { patience: Nanos(patience), segmentation: None, ..UdpSettings::default() };
        let mut sink = here.run(|| sink("10.0.0.1:0", settings)).expect("entered");
        let socket = socket2::SockRef::from(sink.sockets().next().expect("one"));
        socket.set_send_buffer_size(12_000).expect("a size");
        (0..100).for_each(|number| send(&mut sink, number, 1_200, to));
        sink.flush();
        assert_eq!(receiver.numbers(), sink.observer().sent);
        let statistics = sink.statistics();
        assert_eq!(statistics.sent + statistics.all_lost(), 100);
        assert_eq!(statistics.lost.contains_key(&Loss::NoRoom), loses, "{statistics:?}");
        assert!(statistics.waits > 0);
    }
}
