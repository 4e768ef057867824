//! All measurements, and their table.

use std::error::Error;
use std::time::Duration;

use clap::Parser;

use crate::laboratory::Laboratory;
use crate::{audio, cost, expiry, video};

/// Measures what the sink does, and prints a table.
#[derive(Parser)]
struct Arguments {
    /// Seconds of each run.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Runs of each kind, in turns.
    #[arg(long, default_value_t = 5)]
    rounds: u64,
}

pub fn run() -> Result<(), Box<dyn Error>> {
    let Arguments { seconds, rounds } = Arguments::parse();
    let length = Duration::from_secs(seconds);
    let Some(laboratory) = Laboratory::build()? else { return Ok(()) };

    println!("Video, 5 Mbit/s in 30 frames a second, behind 25 Mbit/s and 30 packets:");
    println!("  seed  sent  lost as bursts     %  lost through the sink     %");
    laboratory.limit(video::BOTTLENECK, 30)?;
    for seed in 0..rounds {
        let burst = video::send(&laboratory, video::Way::Bursts, seed, length)?;
        let paced = video::send(&laboratory, video::Way::Paced, seed, length)?;
        println!(
            "  {seed:4} {:5} {:15} {:5.2} {:22} {:5.2}",
            burst.sent,
            burst.lost,
            burst.percent(),
            paced.lost,
            paced.percent()
        );
    }

    println!(
        "\nAudio beside 50 Mbit/s of video on a pace of 60 Mbit/s, where a packet takes 164 µs:"
    );
    println!("  round  p99 alone [µs]  beside video [µs]  difference [µs]  in batches [µs]");
    laboratory.limit(100_000_000, 200)?;
    let mut differences = Vec::new();
    for round in 0..rounds {
        let alone = audio::delay(&laboratory, audio::Beside::Nothing, length)?;
        let beside = audio::delay(&laboratory, audio::Beside::Video, length)?;
        let batches = audio::delay(&laboratory, audio::Beside::Batches, length)?;
        differences.push(beside - alone);
        println!("  {round:5} {alone:15.0} {beside:18.0} {:16.0} {batches:16.0}", beside - alone);
    }
    println!("  median of the differences: {:.0} µs", median(&mut differences));

    println!("\nTwo datagrams while nothing may leave:");
    println!("  lives [ms]  handed back later by [µs]");
    for (lives, late) in expiry::errors()? {
        println!("  {:10} {:26.0}", lives.0 / 1_000_000, late.0 as f64 / 1e3);
    }

    println!("\nProcessor time of 100 000 datagrams of 1200 bytes:");
    println!("  round  plain loop [ms]  sink [ms]  ratio  engine with sink [ms]  ratio");
    laboratory.open()?;
    let (mut sinks, mut engines) = (Vec::new(), Vec::new());
    for round in 0..rounds.max(7) {
        let cost::Cost { plain, sink, engine } = cost::measure(&laboratory, 100_000)?;
        sinks.push(sink / plain);
        engines.push(engine / plain);
        println!(
            "  {round:5} {plain:16.1} {sink:10.1} {:6.2} {engine:22.1} {:6.2}",
            sink / plain,
            engine / plain
        );
    }
    let (sink, engine) = (median(&mut sinks), median(&mut engines));
    println!("  medians of the ratios: sink {sink:.2}, engine with sink {engine:.2}");
    Ok(())
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
