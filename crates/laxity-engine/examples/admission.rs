//! What it takes to ask a running engine for one more stream: the median and the longest of a
//! thousand answers, with granted streams of ten contracts, on a link of 10 Gbit/s.

use std::error::Error;
use std::time::{Duration, Instant};

use laxity::admit::edf::RealTime;
use laxity::packet::Packet;
use laxity::police::TokenBucket;
use laxity::reserve::streams::{EdfStreams, Link, StreamScheduler, Unpromised};
use laxity::scheduler::{Dispatch, DropReason};
use laxity::units::{Bytes, Nanos, Rate};
use laxity_engine::{Engine, Settings, Sink, Streams};

const LINK: Link =
    Link { rate: Rate(10_000_000_000), latency: Nanos(1_000_000), max_packet: Bytes(1_500) };

struct Nowhere;

impl Sink<()> for Nowhere {
    fn sent(&mut self, _: Dispatch, _: Nanos, (): ()) {}
    fn dropped(&mut self, _: Packet, _: DropReason, (): ()) {}
}

/// One of ten contracts.
fn contract(kind: u64) -> RealTime {
    let line = |bucket, rate| TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) };
    RealTime {
        deadline: Nanos(20_000_000 + 5_000_000 * (kind % 10)),
        arrival: vec![line(9_000, 1_000_000), line(1_500, 5_000_000)],
        packet: Bytes(1_500),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("streams  admit [µs]    longest  refuse [µs]    longest  deadlines of the rest [µs]");
    for count in [10, 200, 1_000] {
        let scheduler = EdfStreams::new(LINK, Unpromised::Exact);
        let engine = Engine::start(scheduler, Nowhere, Settings::default())?;
        let streams = Streams::new(engine.handle())?;
        let producer = engine.handle().producer()?;
        let granted = (0..count).map(|kind| streams.admit(&producer, &contract(kind)));
        let granted = granted.collect::<Result<Vec<_>, _>>()?;
        let admit = times(|kind| drop(streams.admit(&producer, &contract(kind))));
        let large = |kind| RealTime {
            arrival: vec![TokenBucket { bucket: Bytes(1 << 30), rate: LINK.rate }],
            ..contract(kind)
        };
        let refuse = times(|kind| assert!(streams.admit(&producer, &large(kind)).is_err()));
        let mut alone = EdfStreams::new(LINK, Unpromised::Exact);
        for kind in 0..count {
            alone.admit(Nanos(0), &contract(kind))?;
        }
        let rest = times(|_| drop(alone.residual().and_then(EdfStreams::perform)));
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        println!(
            "{count:7} {:11.1} {:10.1} {:12.1} {:10.1} {:27.1}",
            micros(admit[500]),
            micros(admit[999]),
            micros(refuse[500]),
            micros(refuse[999]),
            micros(rest[500])
        );
        drop((granted, producer));
        engine.shutdown()?;
    }
    Ok(())
}

/// How long each of a thousand takes, the shortest first.
fn times(mut one: impl FnMut(u64)) -> Vec<Duration> {
    let time = |kind| {
        let begin = Instant::now();
        one(kind);
        begin.elapsed()
    };
    let mut times: Vec<Duration> = (0..1_000).map(time).collect();
    times.sort_unstable();
    times
}
