//! How long a queue of datagrams takes, beside how many wait.
//!
//! ```text
//! cargo run --release -p laxity --example deadline_queue
//! ```

use std::hint::black_box;
use std::time::{Duration, Instant};

use laxity::deadline_queue::{Budget, Datagram, DeadlineQueue, Rank, Reason};
use laxity::units::{Bytes, Nanos, Rate};

const BUDGET: Budget =
    Budget { bytes: Bytes(u64::MAX), rate: Some(Rate(100_000_000)), in_flight: Bytes(12_000) };
const ROUNDS: u64 = 200_000;
const REPEATS: usize = 5;

/// Datagrams of three kinds: with a deadline, with a share, and objects of tracks.
fn datagram(kind: usize, number: u64) -> Datagram {
    let drawn = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let datagram = Datagram { handle: number, length: 1200, ..Datagram::default() };
    match kind {
        0 => {
            let deadline = Some(Nanos(1_000_000_000_000 + drawn * 1000));
            Datagram { deadline, expires: deadline, ..datagram }
        }
        1 => Datagram { rank: Rank { stream: drawn % 1000, ..Rank::default() }, ..datagram },
        _ => {
            let rank = Rank::http((drawn % 8) as u8, true, drawn % 1000);
            Datagram { rank, expires: Some(Nanos::MAX), ..datagram }
        }
    }
}

fn none(_: Datagram, _: Reason) {
    unreachable!("nothing expires");
}

/// The median time of all, divided by their count, in ns.
fn median(count: u64, mut all: impl FnMut()) -> f64 {
    let mut times: Vec<Duration> = (0..REPEATS)
        .map(|_| {
            let begin = Instant::now();
            all();
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[REPEATS / 2].as_nanos() as f64 / count as f64
}

fn main() {
    println!("a datagram comes and another one goes, in ns; what is forecast of one more, in ns\n");
    println!(
        "{:>9} {:>10} {:>8} {:>8} {:>14}",
        "waiting", "deadlines", "shares", "levels", "forecast"
    );
    for waiting in [10, 100, 1000, 10_000, 100_000, 1_000_000] {
        let [deadlines, shares, levels] = [0, 1, 2].map(|kind| {
            let mut queue = filled(kind, waiting);
            let mut number = waiting;
            median(ROUNDS, || {
                for _ in 0..ROUNDS {
                    number += 1;
                    queue.push(datagram(kind, number)).expect("there is room");
                    black_box(queue.pop(Nanos(0), BUDGET, &mut none));
                }
            })
        });
        let queue = filled(0, waiting);
        let forecast = median(ROUNDS, || {
            for number in 0..ROUNDS {
                black_box(queue.forecast(Nanos(0), &datagram(0, number), BUDGET));
            }
        });
        println!("{waiting:>9} {deadlines:>10.0} {shares:>8.0} {levels:>8.0} {forecast:>14.0}");
    }
}

fn filled(kind: usize, waiting: u64) -> DeadlineQueue {
    let mut queue = DeadlineQueue::new(usize::MAX);
    for number in 0..waiting {
        queue.push(datagram(kind, number)).expect("there is room");
    }
    queue
}
