//! What a packet costs: to find its class, and all the way from its arrival to its send.
//!
//! Compare within one run: four classes with a thousand, headers that were seen lately with such
//! that never were.

use std::hint::black_box;
use std::net::IpAddr;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use laxity::packet::Ecn;
use laxity::units::Nanos;
use laxity_forward::{Event, Forwarder, Frame, Settings, Sorter};
use laxity_plan::Plan;
use laxity_plan::matching::{Headers, IpHeaders, Ports};

const CLASSES: [usize; 2] = [4, 1000];
const FLOWS: usize = 4096;

/// A plan of `classes` classes. One is for the rest; the others have deadlines and match by port.
fn plan(classes: usize) -> Plan {
    let mut text = String::from(
        "version = 1\nlink = { rate = \"10gbit\" }\nscheduler = { kind = \"edf\" }\n[class.rest]\n",
    );
    for class in 1..classes {
        let rate = 4_000_000 / classes;
        text += &format!(
            "[class.c{class}]\nmatch = \"udp dport {class}\"\ndeadline = \"{}us\"\n\
             arrival = {{ bucket = \"1000b\", rate = \"{rate}kbit\", packet = \"1000b\" }}\n",
            50_000 + class
        );
    }
    Plan::parse(&text, "bench.toml", Path::new(".")).expect("a plan")
}

/// The headers of flows, spread over the classes.
fn headers(flow: u32, classes: usize) -> Headers {
    let address = |last: u32| IpAddr::V4((0x0a00_0000 + last).into());
    let (source, destination) = (address(flow >> 8), address(1 << 16));
    let ip = IpHeaders { source, destination, protocol: 17, dscp: 46, ecn: 0 };
    let ports = Ports { source: 1024 + flow as u16, destination: (flow as usize % classes) as u16 };
    Headers { ip: Some(ip), ports: Some(ports), ..Headers::default() }
}

fn sort(sorter: &mut Sorter, flows: &[Headers]) {
    for headers in flows {
        black_box(sorter.sort(headers, |_, _| {}));
    }
}

fn classify(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("classify");
    group.throughput(Throughput::Elements(FLOWS as u64));
    for classes in CLASSES {
        let flows: Vec<Headers> = (0..FLOWS as u32).map(|flow| headers(flow, classes)).collect();
        let mut sorter = Sorter::new(&plan(classes), 32_768, 1).expect("a plan of a link");
        group.bench_function(format!("seen lately, {classes} classes"), |bencher| {
            bencher.iter(|| sort(&mut sorter, &flows));
        });
        // Every header drives another one out before it comes again.
        let mut sorter = Sorter::new(&plan(classes), 8, 1).expect("a plan of a link");
        group.bench_function(format!("never seen, {classes} classes"), |bencher| {
            bencher.iter(|| sort(&mut sorter, &flows));
        });
    }
    group.finish();
}

fn forward(criterion: &mut Criterion) {
    const PACKETS: u64 = 4096;
    let mut group = criterion.benchmark_group("arrive and poll, EDF");
    group.throughput(Throughput::Elements(PACKETS));
    for classes in CLASSES {
        let flows: Vec<Headers> = (0..FLOWS as u32).map(|flow| headers(flow, classes)).collect();
        let mut forwarder =
            Forwarder::new(plan(classes), Settings::default()).expect("a plan of a link");
        let mut round = 0;
        group.bench_function(format!("{classes} classes"), |bencher| {
            bencher.iter(|| {
                round += 1;
                run(&mut forwarder, &flows, round, PACKETS)
            });
        });
    }
    group.finish();
}

/// A packet of 1000 bytes each 900 ns, in fours, on a link that takes 800 ns for it.
fn run(forwarder: &mut Forwarder, flows: &[Headers], round: u64, packets: u64) -> u64 {
    let mut sent = 0;
    for packet in 0..packets {
        let number = round * packets + packet;
        let now = Nanos((number / 4 + 1) * 3_600);
        let headers = flows[(packet.wrapping_mul(2_654_435_761) % flows.len() as u64) as usize];
        let frame = Frame {
            headers,
            ecn: Ecn::NotCapable,
            length: 1000,
            handle: packet,
            ..Frame::default()
        };
        let mut sink = |event: &Event| sent += u64::from(matches!(event, Event::Sent(_)));
        forwarder.arrive(now, frame, &mut sink);
        forwarder.poll(now, &mut sink);
    }
    black_box(sent)
}

criterion_group!(benches, classify, forward);
criterion_main!(benches);
