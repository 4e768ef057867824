//! How long a book of reservations takes to answer, beside how many contracts it holds.
//!
//! ```text
//! cargo run --release -p laxity --example reservations
//! cargo run --release -p laxity --example reservations -- 100000 100000
//! ```
//!
//! The second asks of this many contracts and flows alone.

use std::time::{Duration, Instant};

use laxity::admit::edf::RealTime;
use laxity::police::TokenBucket;
use laxity::reserve::edf::EdfBook;
use laxity::units::{Bytes, Nanos, Rate};

const RATE: Rate = Rate(100_000_000_000);
const REQUESTS: u32 = 1000;

/// The flows number this of `contracts` different ones.
fn flow(number: u64, contracts: u64) -> RealTime {
    let kind = number * 7919 % contracts;
    let line = |bucket, rate| TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) };
    let slow = RATE.0 / 4_000_000 + kind % 97;
    RealTime {
        deadline: Nanos(50_000_000 + 1_000_003 * kind % 900_000_000),
        arrival: vec![line(1500 + kind % 1000, slow), line(1000, 3 * slow)],
        packet: Bytes(500 + kind % 500),
    }
}

/// The median and the longest time of what is done for each of these numbers.
fn times(mut each: impl FnMut(u64)) -> (Duration, Duration) {
    let mut times: Vec<Duration> = (0..u64::from(REQUESTS))
        .map(|number| {
            let begin = Instant::now();
            each(number);
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() - 1])
}

const ALL: [(u64, u64); 6] = [
    (10, 1000),
    (200, 100_000),
    (1000, 1000),
    (10_000, 10_000),
    (100_000, 100_000),
    (1_000_000, 1_000_000),
];

fn main() {
    let arguments = std::env::args().skip(1).map(|number| number.parse().expect("a number"));
    let arguments: Vec<u64> = arguments.collect();
    let books = match arguments[..] {
        [contracts, flows] => vec![(contracts, flows)],
        _ => ALL.to_vec(),
    };
    println!(
        "{:>10} {:>10} | admit and release, median and longest | refuse",
        "contracts", "flows"
    );
    for (contracts, flows) in books {
        let mut book = EdfBook::new(RATE, Nanos(0), Some(Bytes(1500)));
        for number in 0..flows {
            book.admit(&flow(number, contracts)).expect("there is room");
        }
        let known = times(|number| {
            let flow = flow(number, contracts);
            book.admit(&flow).expect("there is room");
            assert!(book.release(&flow));
        });
        let new = times(|number| {
            let mut flow = flow(number, contracts);
            flow.packet = Bytes(100);
            book.admit(&flow).expect("there is room");
            assert!(book.release(&flow));
        });
        let mut greedy = flow(1, contracts);
        greedy.arrival = vec![TokenBucket { bucket: Bytes(100_000_000_000), rate: Rate(1000) }];
        let refused = times(|_| assert!(book.admit(&greedy).is_err()));
        println!("{contracts:>10} {flows:>10} | known {known:?}, new {new:?} | {refused:?}");
    }
}
