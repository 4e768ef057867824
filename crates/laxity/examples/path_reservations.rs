//! How long a book of reservations along paths takes to answer.
//!
//! ```text
//! cargo run --release -p laxity --example path_reservations
//! ```
//!
//! A network of 200 links has flows over five of them each, all with contracts of their own.

use std::time::{Duration, Instant};

use laxity::admit::edf::RealTime;
use laxity::police::TokenBucket;
use laxity::reserve::path::{Link, LinkId, NodeId, PathBook, PathRefusal, Split};
use laxity::units::{Bytes, Nanos, Rate};

/// The links from each node, to that one and its next ones, around a ring of nodes.
const NODES: u32 = 50;
const OUT: u32 = 4;
const HOPS: u32 = 5;
const REQUESTS: u64 = 1000;

fn network() -> PathBook {
    let links = (0..NODES).flat_map(|from| (1..=OUT).map(move |by| (from, (from + by) % NODES)));
    PathBook::new(links.map(|(from, to)| Link {
        from: NodeId(from),
        to: NodeId(to),
        rate: Rate(10_000_000_000),
        latency: Nanos(0),
        delay: Nanos(50_000),
        best_effort_packet: Some(Bytes(1500)),
    }))
}

/// A way over five links, by numbers that differ.
fn path(number: u64) -> Vec<LinkId> {
    let mut node = (number * 31 % u64::from(NODES)) as u32;
    let hop = |place: u32| {
        let by = (number / 7 + u64::from(place) * (number % 5)) as u32 % OUT;
        let link = LinkId(node * OUT + by);
        node = (node + by + 1) % NODES;
        link
    };
    (0..HOPS).map(hop).collect()
}

fn flow(number: u64) -> RealTime {
    let kind = number * 7919 % 1_000_003;
    let line = |bucket, rate| TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) };
    RealTime {
        deadline: Nanos(20_000_000 + kind * 100),
        arrival: vec![line(3000 + kind % 1000, 500_000 + kind % 997), line(1000, 3_000_000)],
        packet: Bytes(500 + kind % 500),
    }
}

/// The median and the longest time of what is done for each of these numbers.
fn times(mut each: impl FnMut(u64)) -> (Duration, Duration) {
    let one = |number| {
        let begin = Instant::now();
        each(number);
        begin.elapsed()
    };
    let mut times: Vec<Duration> = (0..REQUESTS).map(one).collect();
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() - 1])
}

fn main() {
    println!(
        "{:>9} | admit and release, median and longest | refuse, with the shortest delay | and with the highest rate | the fastest path",
        "flows"
    );
    for flows in [10, 1000, 10_000, 100_000] {
        let mut book = network();
        for number in 0..flows {
            book.admit(&path(number), &flow(number), Split::ByLoad).expect("there is room");
        }
        let admit = times(|number| {
            let (path, flow) = (path(number * 17), flow(flows + number));
            let deadlines = book.admit(&path, &flow, Split::ByLoad).expect("there is room");
            assert!(book.release(&path, &flow, &deadlines));
        });
        let greedy = |number: u64| {
            let mut flow = flow(flows + number);
            flow.deadline = Nanos(5_000_000);
            flow.arrival[0].bucket = Bytes(5_000_000);
            flow.arrival[1].rate = Rate(20_000_000_000);
            flow
        };
        let refuse = times(|number| {
            let refused = book.admit(&path(number * 17), &greedy(number), Split::ByLoad);
            assert!(matches!(refused, Err(PathRefusal::NoRoom(_))));
        });
        let offer = times(|number| {
            let path = path(number * 17);
            let (_, bucket) = book.offers(&path, &greedy(number));
            assert!(bucket < Some(Bytes(5_000_000)));
        });
        let fastest = times(|number| {
            let path = path(number * 17);
            let [from, to] = [book.link(path[0]).from, book.link(path[4]).to];
            std::hint::black_box(book.fastest(from, to, &flow(number)));
        });
        println!("{flows:>9} | {admit:?} | {refuse:?} | {offer:?} | {fastest:?}");
    }
}
