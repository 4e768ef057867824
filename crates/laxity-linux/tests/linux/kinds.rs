//! Frames of every kind pass every backend unchanged, in order, both ways.

use std::process::Command;

use laxity::units::Nanos;
use laxity_linux::clock::Clock;
use laxity_linux::frames::{Backend, Side};
use laxity_linux::interface::Interface;
use laxity_linux::packet::{Mmsg, Options, Ring};
use laxity_linux::xdp::{self, Xdp};

use crate::laboratory::{Tap, bridged, ends, eventually, taps, xdp};

#[test]
fn every_kind_passes_recvmmsg() {
    pass(9000, |ends| Mmsg::open(ends, &options()).ok());
}

#[test]
fn every_kind_passes_the_ring() {
    pass(1500, |ends| Ring::open(ends, &options()).ok());
    pass(9000, |ends| Ring::open(ends, &options()).ok());
}

#[test]
fn every_kind_passes_xdp() {
    for mtu in [1500, 1770, 1771, 3818] {
        pass(mtu, |ends| xdp(ends, &xdp::Options::default()));
    }
}

#[test]
fn xdp_says_what_it_cannot_do() {
    let Some((here, _taps)) = taps(9000) else { return };
    let [a, b] = ends(&here);
    let open = || Xdp::open([&a, &b], &xdp::Options::default()).expect_err("it cannot");
    let text = here.run(open).expect("entered").to_string();
    assert!(text.ends_with("its MTU is 9000, and the largest is 3818"), "{text}");
    here.mtu("a", 1500).expect("set");
    here.mtu("b", 1500).expect("set");
    let [a, b] = ends(&here);
    let first = here.run(|| xdp([&a, &b], &xdp::Options::default())).expect("entered");
    let Some(first) = first else { return };
    assert!(ends(&here).iter().all(|interface| interface.xdp), "a program is attached");
    let second = here.run(|| Xdp::open([&a, &b], &xdp::Options::default())).expect("entered");
    let text = second.expect_err("they have one").to_string();
    assert!(text.contains("busy"), "{text}");
    drop(first);
    assert!(ends(&here).iter().all(|interface| !interface.xdp), "it goes with the backend");
    // Queues stay busy for a moment.
    let again = here.run(|| Xdp::open([&a, &b], &xdp::Options::default()));
    again.expect("entered").expect("it waits until they are free");
}

#[test]
fn stamps_are_of_now_where_they_are_asked_for() {
    let Some((here, [a, _b])) = taps(1500) else { return };
    let ends = ends(&here);
    let opened = |stamps| {
        let options = Options { stamps, ..options() };
        let ends = [&ends[0], &ends[1]];
        (Mmsg::open(ends, &options).expect("opened"), Ring::open(ends, &options).expect("opened"))
    };
    let (mut mmsg, mut ring) = here.run(|| opened(false)).expect("entered");
    assert_eq!((stamp(&mut mmsg, &a), stamp(&mut ring, &a)), (None, None));
    let (mut mmsg, mut ring) = here.run(|| opened(true)).expect("entered");
    let near = |at: Option<Nanos>| {
        let now = Clock::Realtime.now();
        at.inspect(|at| assert!(*at <= now && now.0 - at.0 < 1_000_000_000)).is_some()
    };
    eventually("frames are stamped", || near(stamp(&mut mmsg, &a)));
    assert!(near(stamp(&mut ring, &a)));
}

fn stamp(backend: &mut impl Backend, from: &Tap) -> Option<Nanos> {
    let mut frames = Vec::new();
    while backend.receive(Side::A, &mut frames).expect("received") > 0 {
        frames.drain(..).for_each(|frame| backend.release(frame));
    }
    from.write(&frame(0x88b5, b"stamped"));
    eventually("a frame arrives", || backend.receive(Side::A, &mut frames).expect("received") > 0);
    let arrived = backend.pool().arrived(frames[0]);
    backend.release(frames[0]);
    arrived
}

/// A frame that egress cannot take is dropped alone.
#[test]
fn a_frame_that_is_too_long_stops_no_other() {
    let Some((here, [a, b])) = taps(9000) else { return };
    here.mtu("b", 1500).expect("a smaller one");
    let ends = ends(&here);
    let open = || Mmsg::open([&ends[0], &ends[1]], &options()).expect("opened");
    let mut backend = here.run(open).expect("entered");
    bridged(&mut backend, || {
        for length in [60, 4000, 61] {
            a.write(&frame(0x88b5, &vec![7; length]));
        }
        assert_eq!(b.read().map(|frame| frame.len()), Some(74));
        assert_eq!(b.read().map(|frame| frame.len()), Some(75));
    });
    let (a, b) = (backend.statistics(Side::A), backend.statistics(Side::B));
    let (a, b) = (a.expect("counted"), b.expect("counted"));
    assert_eq!((a.received, b.sent, b.refused), (3, 2, 1));
}

/// A frame that the kernel drops, here in a class that takes none, is given up soon, and those
/// behind it are sent.
#[test]
fn a_frame_that_the_kernel_drops_stops_no_other() {
    let Some((here, [a, b])) = taps(1500) else { return };
    let ends = ends(&here);
    let tc = |arguments: &str| {
        let mut tc = Command::new("tc");
        tc.args(arguments.split_whitespace());
        here.run(|| tc.status().is_ok_and(|status| status.success())).expect("entered")
    };
    let is_set_up = [
        "qdisc add dev b root handle 1: htb default 10",
        "class add dev b parent 1: classid 1:10 htb rate 1gbit",
        "class add dev b parent 1: classid 1:20 htb rate 1gbit",
        "qdisc add dev b parent 1:20 handle 20: tbf rate 1mbit burst 10kb limit 1",
        "filter add dev b parent 1: protocol 0x88b6 u32 match u32 0 0 flowid 1:20",
    ];
    if !is_set_up.into_iter().all(tc) {
        eprintln!("skipped: `tc` with htb, tbf and u32 is not there");
        return;
    }
    let options = Options { bypass_qdisc: false, ..options() };
    let open = || Mmsg::open([&ends[0], &ends[1]], &options).expect("opened");
    let mut backend = here.run(open).expect("entered");
    bridged(&mut backend, || {
        for kind in [0x88b5, 0x88b6, 0x88b6, 0x88b5, 0x88b6] {
            a.write(&frame(kind, b"payload of a frame that is long enough to be one of them"));
        }
        assert_eq!(b.read().map(|frame| frame[12..14].to_vec()), Some(vec![0x88, 0xb5]));
        assert_eq!(b.read().map(|frame| frame[12..14].to_vec()), Some(vec![0x88, 0xb5]));
        std::thread::sleep(std::time::Duration::from_millis(100));
    });
    let statistics = backend.statistics(Side::B).expect("counted");
    assert_eq!((statistics.sent, statistics.refused), (2, 3));
}

/// More frames than the pool has room for wait in the kernel, which says how many it missed.
#[test]
fn what_there_is_no_room_for_is_counted() {
    let Some((here, [a, b])) = taps(1500) else { return };
    let ends = ends(&here);
    let options = Options { frames: 100, receive_buffer: 1 << 18, ..options() };
    missing(Mmsg::open, &here, &ends, &options, [&a, &b]);
    missing(Ring::open, &here, &ends, &options, [&a, &b]);
}

fn missing<B: Backend + Send>(
    open: impl FnOnce([&Interface; 2], &Options) -> Result<B, laxity_linux::Error> + Send,
    here: &laxity_linux::namespace::Namespace,
    [first, second]: &[Interface; 2],
    options: &Options,
    [a, b]: [&Tap; 2],
) {
    let opened = here.run(|| open([first, second], options)).expect("entered");
    let mut backend = opened.expect("opened");
    const SENT: u64 = 4000;
    for number in 0..SENT {
        a.write(&frame(0x88b5, &number.to_be_bytes()));
    }
    let mut held = Vec::new();
    while backend.receive(Side::A, &mut held).expect("received") > 0 {}
    assert_eq!((held.len(), backend.pool().room(Side::A)), (100, 0));
    b.write(&frame(0x88b5, b"the other direction has its own room"));
    let mut other = Vec::new();
    backend.receive(Side::B, &mut other).expect("received");
    assert_eq!(other.len(), 1);
    held.drain(..).for_each(|frame| backend.release(frame));
    while backend.receive(Side::A, &mut held).expect("received") > 0 {
        held.drain(..).for_each(|frame| backend.release(frame));
    }
    let statistics = backend.statistics(Side::A).expect("counted");
    assert!(statistics.missed > 0 && statistics.unreadable == 0, "{statistics:?}");
    assert_eq!(statistics.received + statistics.missed, SENT);
    assert_eq!(backend.statistics(Side::A).expect("counted again"), statistics);
}

fn options() -> Options {
    Options { frames: 512, ..Options::default() }
}

fn pass<B: Backend + Send>(mtu: u32, open: impl FnOnce([&Interface; 2]) -> Option<B> + Send) {
    let Some((here, taps)) = taps(mtu) else { return };
    let [a, b] = ends(&here);
    let Some(mut backend) = here.run(|| open([&a, &b])).expect("entered") else { return };
    bridged(&mut backend, || {
        for (from, to) in [(0, 1), (1, 0)] {
            let kinds = kinds(mtu as usize);
            kinds.iter().for_each(|(_, frame)| taps[from].write(frame));
            for (kind, frame) in &kinds {
                let passed = taps[to].read().unwrap_or_else(|| panic!("no {kind} passes"));
                assert!(passed == *frame, "{kind}: {frame:02x?} came out as {passed:02x?}");
            }
        }
    });
    let count = kinds(mtu as usize).len() as u64;
    for side in Side::BOTH {
        let counted = backend.statistics(side).expect("counted");
        assert_eq!((counted.received, counted.sent), (count, count));
        assert_eq!((counted.missed, counted.unreadable, counted.refused), (0, 0, 0));
    }
}

/// Frames with their names.
fn kinds(mtu: usize) -> Vec<(&'static str, Vec<u8>)> {
    let tag = |outer: u16, inner: &[u8]| [&outer.to_be_bytes(), inner].concat();
    let mut kinds = vec![
        ("ARP request", to([0xff; 6], 0x0806, &arp())),
        ("neighbour solicitation", to([0x33, 0x33, 0xff, 0, 0, 2], 0x86dd, &solicitation())),
        ("IPv4 packet", frame(0x0800, &ipv4(0x4000, 0, &[9; 100]))),
        ("first fragment", frame(0x0800, &ipv4(0x2000, 17, &[1; 1480]))),
        ("later fragment", frame(0x0800, &ipv4(185, 17, &[2; 300]))),
        ("VLAN tag", frame(0x8100, &tag(0x6064, &[8, 0, 0x45, 0, 1, 2, 3]))),
        ("priority tag", frame(0x8100, &tag(0xe000, &[8, 0, 0x45, 0, 4, 5, 6]))),
        ("service tag", frame(0x88a8, &tag(0x0005, &[8, 0, 0x45, 0, 7, 8, 9]))),
        ("two tags", frame(0x88a8, &tag(0x0065, &[0x81, 0, 0x20, 7, 8, 0, 0x45, 1]))),
        ("two equal tags", frame(0x8100, &tag(0x0065, &[0x81, 0, 0x20, 7, 8, 0, 0x45, 2]))),
        ("protocol of nobody", frame(0x88b5, &[0xaa; 777])),
        ("spanning tree", to([1, 0x80, 0xc2, 0, 0, 0], 38, &[0x42, 0x42, 3, 0, 0, 0, 0, 0])),
        ("link layer discovery", to([1, 0x80, 0xc2, 0, 0, 0x0e], 0x88cc, &[2, 7, 4, 1, 2])),
        ("pause frame", to([1, 0x80, 0xc2, 0, 0, 1], 0x8808, &[0, 1, 0xff, 0xff])),
        ("shortest frame", frame(0x88b5, &[3; 46])),
        ("runt", frame(0x88b5, &[4])),
        ("nothing but a header", frame(0x88b5, &[])),
        ("broken IPv4 header", frame(0x0800, &[0x4f; 3])),
        ("full frame", frame(0x88b5, &vec![5; mtu])),
        (
            "full frame with a tag",
            frame(0x8100, &tag(0x0123, &[vec![0x88, 0xb5], vec![6; mtu]].concat())),
        ),
    ];
    kinds.extend((0..100).map(|number| ("one of many", frame(0x88b5, &[number; 60]))));
    kinds
}

fn frame(kind: u16, payload: &[u8]) -> Vec<u8> {
    to([2, 0, 0, 0, 0, 0x0b], kind, payload)
}

fn to(address: [u8; 6], kind: u16, payload: &[u8]) -> Vec<u8> {
    let from = [2, 0, 0, 0, 0, 0x0a];
    [address.as_slice(), &from, &kind.to_be_bytes(), payload].concat()
}

fn arp() -> Vec<u8> {
    let mut request = vec![0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 0x0a, 10, 0, 0, 1];
    request.extend([0, 0, 0, 0, 0, 0, 10, 0, 0, 2]);
    request
}

fn solicitation() -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0, 0, 24, 58, 255];
    packet.extend([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    packet.extend([0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 2]);
    packet.extend([135, 0, 0x12, 0x34, 0, 0, 0, 0]);
    packet.extend([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    packet
}

/// A packet of IPv4 without a checksum, which nothing here verifies.
fn ipv4(fragment: u16, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0xb8];
    packet.extend((20 + payload.len() as u16).to_be_bytes());
    packet.extend([0x12, 0x34]);
    packet.extend(fragment.to_be_bytes());
    packet.extend([64, protocol, 0xbe, 0xef, 10, 0, 0, 1, 10, 0, 0, 2]);
    packet.extend(payload);
    packet
}
