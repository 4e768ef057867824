//! Acknowledgements: the kernel's filter beside that of the scheduler.

use std::collections::BTreeSet;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use etherparse::{TcpHeader, TcpOptionElement};
use laxity::packet::{ClassId, FlowId, Packet};
use laxity::sched::Cake;
use laxity::sched::cake::{AckFilter, CakeClass, CakeSettings, Isolation};
use laxity::scheduler::{DropReason, Scheduler};
use laxity::units::{Nanos, Rate};
use laxity_linux::interface::Interface;
use laxity_linux::packet::{Tap, Way};
use laxity_plan::acks::AckTable;
use laxity_plan::matching::Headers;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use socket2::{Domain, Protocol, Socket, Type};

use super::{is_busy, lay_cable};
use crate::lab::run;
use crate::uml::{inside_alone, whole};

const LIMIT: Duration = Duration::from_secs(600);
/// Segments of a run, all of them before the second one leaves.
const COUNT: u32 = 30;
/// Connections, by port.
const CONNECTIONS: u16 = 2;
/// The length of the first packet, which keeps the link busy.
const FIRST: usize = 1_400;

/// Segments of TCP as a receiver sends them, numbered by their sequence numbers from 1.
fn segments(seed: u64) -> Vec<Vec<u8>> {
    let mut draw = Pcg32::seed_from_u64(seed);
    let mut ends = [(1_000u32, 0u32); CONNECTIONS as usize];
    let mut echo = false;
    (1..=COUNT)
        .map(|number| {
            let connection = draw.random_range(0..CONNECTIONS);
            let (next, held) = &mut ends[usize::from(connection)];
            match draw.random_range(0..10u32) {
                // What was missing has come.
                0..=5 => (*next, *held) = (*next + 1_000 + *held, 0),
                // Something is missing, and more comes behind it.
                6..=7 => *held += 1_000,
                _ => {}
            }
            echo ^= draw.random_bool(0.08);
            let mut header = TcpHeader::new(5_000 + connection, 80, number, 1_000);
            (header.ack, header.acknowledgment_number, header.ece) = (true, *next, echo);
            header.psh = draw.random_bool(0.05);
            let stamps = TcpOptionElement::Timestamp(number, number / 2);
            let block = (*next + 1_000, *next + 1_000 + *held);
            let selected = TcpOptionElement::SelectiveAcknowledgement(block, [None; 3]);
            let pad = TcpOptionElement::Noop;
            let options = match *held {
                0 => vec![pad.clone(), pad, stamps],
                _ => vec![pad.clone(), pad.clone(), stamps, pad.clone(), pad, selected],
            };
            header.set_options(&options).expect("room for options");
            let mut bytes = Vec::new();
            header.write(&mut bytes).expect("room");
            bytes.resize(bytes.len() + if draw.random_bool(0.1) { 40 } else { 0 }, 0);
            bytes
        })
        .collect()
}

/// A packet of IP around a segment.
fn around(segment: &[u8]) -> Vec<u8> {
    let addresses = ([10, 8, 1, 1], [10, 9, 1, 2]);
    let length = segment.len() as u16;
    let ip = etherparse::Ipv4Header::new(length, 64, 6.into(), addresses.0, addresses.1);
    let mut bytes = vec![0; 12];
    bytes.extend([8, 0]);
    ip.expect("a length").write(&mut bytes).expect("room");
    bytes.extend(segment);
    bytes
}

/// The numbers of what the scheduler sends.
fn sent_here(filter: AckFilter, segments: &[Vec<u8>]) -> Vec<u32> {
    let settings = CakeSettings {
        isolation: Isolation::Flows,
        rate: Rate(64_000),
        rtt: Nanos(100_000_000_000),
        ack_filter: filter,
        ..CakeSettings::USUAL
    };
    let mut cake = Cake::new(vec![CakeClass::default()], settings, 1).expect("settings");
    let (mut acks, mut ignore) = (AckTable::new(1), |_: Packet, _: DropReason| {});
    for (handle, segment) in (1..).zip(segments) {
        let frame = around(segment);
        let headers = Headers::from_ethernet(&frame);
        let flow = FlowId(headers.ports.expect("TCP").source.into());
        let (class, length) = (ClassId(0), frame.len() as u32);
        let ack = acks.tag(&headers, &frame[14..]);
        let packet = Packet { class, flow, length, ack, handle, ..Packet::default() };
        cake.enqueue(Nanos(0), packet, &mut ignore);
    }
    let next = || cake.dequeue(Nanos(0), &mut ignore).map(|sent| sent.packet.handle as u32);
    std::iter::from_fn(next).collect()
}

/// The numbers of what the kernel sends.
fn sent_there(words: &str, segments: &[Vec<u8>], tap: &mut Tap) -> Vec<u32> {
    let _none = Command::new("tc").args(["qdisc", "del", "dev", "left", "root"]).output();
    run(
        "tc",
        &format!(
            "qdisc add dev left root cake bandwidth 64kbit besteffort flows rtt 100s raw {words}"
        ),
    );
    while tap.look(|_| {}).expect("a socket") > 0 {}
    let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::TCP)).expect("a socket");
    let address = |text: &str| text.parse::<std::net::SocketAddr>().expect("an address").into();
    socket.bind(&address("10.8.1.1:0")).expect("an address");
    let mut first = Vec::new();
    TcpHeader::new(9, 9, 0, 9).write(&mut first).expect("room");
    first.resize(FIRST, 0);
    for bytes in [&first].into_iter().chain(segments) {
        socket.send_to(bytes, &address("10.9.1.2:0")).expect("a route");
    }
    let mut sent = Vec::new();
    let mut see = || {
        let seen = tap.look(|frame| {
            // The sequence number behind IPv4 without options.
            let number = frame.bytes.get(38..42).and_then(|bytes| bytes.try_into().ok());
            sent.extend(number.map(u32::from_be_bytes).filter(|number| *number > 0));
        });
        seen.expect("a socket")
    };
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(20) && is_busy() {
        see();
        thread::sleep(Duration::from_millis(5));
    }
    while see() > 0 {}
    sent
}

/// What the scheduler drops, the kernel drops; an aggressive filter of the kernel leaves some that
/// are not the last in their queue.
#[test]
fn acknowledgements_that_are_dropped_the_kernel_drops() {
    let name = "cake::acks::acknowledgements_that_are_dropped_the_kernel_drops";
    inside_alone(name, LIMIT, || {
        lay_cable();
        let left = Interface::named("left").expect("the cable");
        let mut tap = Tap::open(&left, Way::Out, 8 << 20).expect("a packet socket");
        // The kernel takes some milliseconds to begin with stamps.
        thread::sleep(Duration::from_millis(200));
        for (filter, words) in [
            (AckFilter::Off, "no-ack-filter"),
            (AckFilter::On, "ack-filter"),
            (AckFilter::Aggressive, "ack-filter-aggressive"),
        ] {
            let (mut here, mut there, mut both) = (0, 0, 0);
            for seed in 0..whole(4, 60) {
                let segments = segments(seed);
                let dropped = |sent: Vec<u32>| {
                    let left_out = |number: &u32| !sent.contains(number);
                    (1..=COUNT).filter(left_out).collect::<BTreeSet<_>>()
                };
                let by_kernel = dropped(sent_there(words, &segments, &mut tap));
                let own = dropped(sent_here(filter, &segments));
                both += own.intersection(&by_kernel).count();
                (here, there) = (here + own.len(), there + by_kernel.len());
            }
            println!("{words}: {here} dropped here, {there} by the kernel, {both} by both");
            match filter {
                AckFilter::Off => assert_eq!((here, there), (0, 0)),
                AckFilter::On => assert!(both == here && here * 2 > there, "{both}"),
                AckFilter::Aggressive => assert!(both * 2 > there, "{both}"),
            }
        }
    });
}
