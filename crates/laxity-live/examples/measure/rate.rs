//! Frames a second, in two ways: one core sends as much as it can and another forwards, which on a
//! busy machine says more of the sender; and a core forwards what already waits.

use std::fs;

use laxity::units::Nanos;
use laxity_linux::clock::Clock;
use laxity_linux::priority;
use laxity_live::Options;

use crate::place::Place;
use crate::sender::{Lengths, Receivers, Sender};
use crate::{OTHER_CORE, SENDERS_CORE, Way, forward, spread};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const FOR: Nanos = Nanos(2_000_000_000);

pub(crate) fn measure(rounds: usize) -> Result<()> {
    println!("64 B, {rounds} rounds, medians (least to greatest):");
    // The kernel's bridge works on the sender's core: its rate is that of the sender.
    let ways = || Way::ALL.into_iter().filter(|way| *way != Way::KernelBridge);
    let mut rows: Vec<Vec<Round>> = ways().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (way, row) in ways().zip(&mut rows) {
            row.push(round(way)?);
        }
    }
    let head = ["offered [M/s]", "forwarded [M/s]", "of what waits [M/s]", "processor [us]"];
    println!("{:>20}{}", "", head.map(|head| format!("{head:>21}")).concat());
    for (way, row) in ways().zip(&rows) {
        let cells = [0, 1, 2, 3].map(|column| {
            let [median, least, greatest] = spread(row.iter().map(|round| round[column]));
            format!("{median:8.2} ({least:.2}-{greatest:.2})")
        });
        println!("{:>20}{}", way.name(), cells.map(|cell| format!("{cell:>21}")).concat());
    }
    Ok(())
}

/// Offered, forwarded and forwarded of what waits already, in millions a second; microseconds of
/// the processor that the forwarding thread took for a frame under full load.
type Round = [f64; 4];

fn round(way: Way) -> Result<Round> {
    let place = Place::new()?;
    let mut sender = Sender::new(&place, Receivers::classes(), Lengths::SMALLEST)?;
    let on_core = Options { core: Some(OTHER_CORE), ..Options::default() };
    let (offered, arrived, took, busy) = forward::during(way, on_core, &place, |read| {
        let thread = thread("forwarding")?;
        let (before, busy_before) = (place.arrived()?, busy(&thread)?);
        priority::pin(SENDERS_CORE)?;
        let began = Clock::Monotonic.now();
        let (mut offered, mut took) = (0, Nanos(0));
        while took < FOR {
            offered += sender.batch();
            read();
            took = Clock::Monotonic.now() - began;
        }
        Ok((offered, place.arrived()? - before, took, busy(&thread)? - busy_before))
    })?;
    let (of_waiting, waited) =
        forward::waiting(way, Receivers::classes(), Lengths::SMALLEST, &place)?;
    let millions = |frames: u64, time: Nanos| frames as f64 / time.0.max(1) as f64 * 1000.0;
    Ok([
        millions(offered, took),
        millions(arrived, took),
        millions(of_waiting, waited),
        busy.0 as f64 / 1000.0 / arrived.max(1) as f64,
    ])
}

/// The folder of a thread of this process.
fn thread(name: &str) -> Result<std::path::PathBuf> {
    for task in fs::read_dir("/proc/self/task")? {
        let task = task?.path();
        if fs::read_to_string(task.join("comm"))?.trim() == name {
            return Ok(task);
        }
    }
    Err(format!("no thread is called {name}").into())
}

/// How long a thread has run.
fn busy(thread: &std::path::Path) -> Result<Nanos> {
    let statistics = fs::read_to_string(thread.join("schedstat"))?;
    let nanos = statistics.split_whitespace().next().and_then(|nanos| nanos.parse().ok());
    Ok(Nanos(nanos.ok_or("the kernel does not say how long threads run")?))
}
