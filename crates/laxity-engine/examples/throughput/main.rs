//! Two producers, one scheduler thread: packets a second and ring-to-sink latency, by discipline.

mod measure;

use std::error::Error;
use std::time::Duration;

use clap::Parser;
use laxity::sched::dwcs::{Late, Stream, Streams};
use laxity::sched::edf::{Assign, BestEffort};
use laxity::sched::{Dwcs, Edf, Fifo};
use laxity::scheduler::Scheduler;
use laxity::units::Nanos;
use laxity::window::Loss;
use laxity_engine::Settings;

use self::measure::{Load, Measurement, measure};

/// Measure packets a second and ring-to-sink latency of an engine.
///
/// `flood` sends as fast as there is room in the rings: its latency is that of full rings. `bursts`
/// sends bursts of 50 packets every half millisecond or so.
#[derive(Parser)]
#[command(max_term_width = 100)]
struct Arguments {
    /// Threads that send.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    producers: u32,
    /// Packets that each of them sends in a flood.
    #[arg(long, default_value_t = 2_000_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    packets: u64,
    /// Packets that a ring holds.
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    ring: u32,
    /// How often each is measured; the fastest counts.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
}

/// Classes of the disciplines that know classes, and streams of each.
const CLASSES: u32 = 8;
const STREAMS: u32 = 125;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    println!(
        "{:8} {:8} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "", "load", "Mpacket/s", "p50 us", "p99 us", "p99.9 us", "max us", "ring full"
    );
    show("fifo", &arguments, Fifo::new)?;
    show("edf", &arguments, edf)?;
    show("dwcs", &arguments, dwcs)
}

fn edf() -> Edf {
    let deadlines: Vec<_> = (1..=u64::from(CLASSES)).map(|n| Some(Nanos(n * 1_000_000))).collect();
    Edf::new(&deadlines, BestEffort::by_arrival(Assign::Background))
}

fn dwcs() -> Dwcs {
    let streams = |class: u32| Streams {
        stream: Stream {
            gap: Some(Nanos(20_000_000)),
            loss: Loss::new(1, 80 + 10 * class).expect("a tolerance"),
            late: Late::Send,
        },
        count: STREAMS,
    };
    let classes: Vec<_> = (0..CLASSES).map(streams).collect();
    Dwcs::new(Default::default(), &classes).expect("streams with a gap")
}

fn show<S: Scheduler + Send + 'static>(
    name: &str,
    arguments: &Arguments,
    scheduler: impl Fn() -> S,
) -> Result<(), Box<dyn Error>> {
    let settings = Settings { ring: arguments.ring as usize, backlog: 4096, ..Settings::default() };
    let flood = Load {
        producers: arguments.producers,
        packets: arguments.packets,
        classes: CLASSES,
        flows: STREAMS,
        pause: None,
    };
    let bursts = Load { packets: 40_000, pause: Some((50, Duration::from_micros(500))), ..flood };
    for (load_name, load) in [("flood", flood), ("bursts", bursts)] {
        let mut best: Option<Measurement> = None;
        for _ in 0..arguments.runs {
            let run = measure(scheduler(), settings, load)?;
            if best.as_ref().is_none_or(|best| run.elapsed < best.elapsed) {
                best = Some(run);
            }
        }
        let best = best.expect("there is at least one run");
        let latency = &best.statistics.latency;
        let micros = |time: Nanos| time.0 as f64 / 1e3;
        println!(
            "{name:8} {load_name:8} {:10.2} {:10.1} {:10.1} {:10.1} {:10.1} {:10}",
            best.packets_per_second() / 1e6,
            micros(latency.quantile(500, 1000)),
            micros(latency.quantile(990, 1000)),
            micros(latency.quantile(999, 1000)),
            micros(latency.max()),
            best.statistics.ring_full,
        );
    }
    Ok(())
}
