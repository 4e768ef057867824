//! How many packets one thread forwards, and how many two forward together over one link.
//!
//! Without interfaces: each thread takes in the smallest frames, of 64 flows in five classes under
//! EDF, and sends them, on a link that is faster than all of them. With every batch a thread takes
//! its share and gives it back. Rounds take turns, and the best counts.

use std::path::Path;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use laxity::packet::Ecn;
use laxity::units::Nanos;
use laxity_engine::RateShare;
use laxity_forward::{Event, Forwarder, Frame, Settings};
use laxity_plan::Plan;
use laxity_plan::matching::{Headers, IpHeaders, Ports};

const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(400);
const BATCH: usize = 32;
const LENGTH: u32 = 60;

fn plan(threads: u16) -> Plan {
    let text = format!(
        "version = 1\nlink = {{ rate = \"1000gbit\", threads = {threads} }}\nscheduler.kind = \"edf\"\n\
         [class.a]\nmatch = \"udp dport 1\"\n[class.b]\nmatch = \"udp dport 2\"\n\
         [class.c]\nmatch = \"udp dport 3\"\n[class.d]\nmatch = \"udp dport 4\"\n[class.rest]\n"
    );
    Plan::parse(&text, "plan", Path::new(".")).expect("a plan")
}

fn frame(number: u64, thread: u64) -> Frame {
    let address = |last: u64| std::net::Ipv4Addr::from(0x0a00_0000 + last as u32).into();
    let flow = (number % 64) * 2 + thread;
    let (source, destination) = (address(flow), address(1_000));
    let ip = IpHeaders { source, destination, protocol: 17, dscp: 0, ecn: 0 };
    let ports = Ports { source: 1_000 + flow as u16, destination: (number % 5) as u16 };
    let headers = Headers { ip: Some(ip), ports: Some(ports), ..Headers::default() };
    Frame { headers, ecn: Ecn::NotCapable, length: LENGTH, handle: number, ..Frame::default() }
}

/// Packets that a thread sends in a round.
fn forward(mut forwarder: Forwarder, thread: u64, begin: &Barrier, batch: usize) -> u64 {
    let frames: Vec<_> = (0..64 * BATCH as u64).map(|number| frame(number, thread)).collect();
    let mut batches = frames.chunks(BATCH).cycle();
    let mut sent = 0;
    begin.wait();
    let start = Instant::now();
    loop {
        let passed = start.elapsed();
        if passed >= ROUND {
            return sent;
        }
        let now = Nanos(passed.as_nanos() as u64);
        let mut sink = |event: &Event| sent += u64::from(matches!(event, Event::Sent(_)));
        while forwarder.backlog().packets < batch {
            let Some(batch) = batches.next() else { return sent };
            forwarder.arrive_together(now, batch, &mut sink);
        }
        forwarder.poll(now, &mut sink);
    }
}

/// Millions of packets a second of this many threads together.
fn round(threads: u16, batch: usize) -> f64 {
    let plan = plan(threads);
    let shares = plan
        .link
        .threads
        .map_or_else(Vec::new, |threads| RateShare::of_link(threads.rate, threads.count));
    let mut shares = shares.into_iter();
    let begin = Barrier::new(threads.into());
    let sent: u64 = std::thread::scope(|scope| {
        let start = |thread| {
            let forwarder = Forwarder::new(plan.clone(), Settings::default()).expect("a link");
            let forwarder = match shares.next() {
                Some(share) => forwarder.sharing(share),
                None => forwarder,
            };
            let begin = &begin;
            scope.spawn(move || forward(forwarder, thread, begin, batch))
        };
        let threads: Vec<_> = (0..u64::from(threads)).map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("it counts")).sum()
    });
    sent as f64 / ROUND.as_secs_f64() / 1e6
}

fn main() {
    for batch in [BATCH, 128 * BATCH] {
        let mut best = [0.0f64; 2];
        for _ in 0..ROUNDS {
            for (threads, best) in [1, 2].into_iter().zip(&mut best) {
                *best = best.max(round(threads, batch));
            }
        }
        let [one, two] = best;
        println!(
            "batches of {batch}: {one:.2} million/s by one thread, {two:.2} by two: {:.2} times",
            two / one
        );
    }
}
