//! How long frames take at 2000 a second, from just before they are sent until the kernel of the
//! receiver has them.

use laxity::units::Nanos;
use laxity_linux::clock::Clock;
use laxity_linux::packet::{Tap, TappedFrame, Way as Direction};
use laxity_linux::priority;
use laxity_live::Options;

use crate::place::Place;
use crate::sender::{Lengths, Receivers, Sender, sent_at};
use crate::{OTHER_CORE, SENDERS_CORE, Way, forward, spread};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const COUNT: u64 = 4000;
const EVERY: u64 = 500_000;

pub(crate) fn measure(rounds: usize) -> Result<()> {
    let at = |core, awake| Options { core: Some(core), awake, ..Options::default() };
    for (thread, which) in [
        (at(OTHER_CORE, false), "on another core, which sleeps in between"),
        (at(OTHER_CORE, true), "on another core, kept awake"),
        (at(SENDERS_CORE, false), "on the core at which frames arrive"),
    ] {
        println!("2000 frames a second, forwarded {which}:");
        of(thread, rounds)?;
    }
    Ok(())
}

fn of(thread: Options, rounds: usize) -> Result<()> {
    let mut rows = Way::ALL.map(|_| Vec::new());
    for _ in 0..rounds {
        for (way, row) in Way::ALL.into_iter().zip(&mut rows) {
            row.push(round(way, thread)?);
        }
    }
    println!("{:>20}  p50 / p99 [us], medians of {rounds} rounds", "");
    for (way, row) in Way::ALL.into_iter().zip(&rows) {
        let [p50, p99, lost] =
            [0, 1, 2].map(|column| spread(row.iter().map(|round: &[f64; 3]| round[column]))[0]);
        println!("{:>20}  {p50:6.1} / {p99:6.1}   lost {lost}", way.name());
    }
    Ok(())
}

/// The median of delays and their 99th percentile in microseconds, and how many frames were lost.
fn round(way: Way, thread: Options) -> Result<[f64; 3]> {
    let place = Place::new()?;
    let receiver = Place::host(&place.receiver)?;
    let mut tap = place.receiver.run(|| Tap::open(&receiver, Direction::In, 16 << 20))??;
    let mut sender = Sender::new(&place, Receivers::classes(), Lengths::SMALLEST)?;
    forward::during(way, thread, &place, |_| {
        let send = || {
            for prepared in [priority::pin(SENDERS_CORE), priority::real_time(40)] {
                prepared.unwrap_or_else(|error| println!("{error}"));
            }
            let start = Clock::Monotonic.now();
            for number in 1..=COUNT {
                Clock::Monotonic.sleep_until(start + Nanos(number * EVERY));
                sender.stamped();
            }
        };
        // On a thread of its own, whose priority ends with it.
        std::thread::scope(|scope| scope.spawn(send).join().expect("it sends"));
        Ok(())
    })?;
    let mut took = Vec::new();
    let mut note = |passed: TappedFrame<'_>| {
        if let Some(sent) = sent_at(passed.bytes) {
            took.push(passed.at.saturating_sub(sent).0 as f64 / 1000.0);
        }
    };
    while tap.look(&mut note).expect("looked") > 0 {}
    // Those that the kernel did not stamp yet have passed, too.
    let seen = took.len() as u64 + tap.missed().expect("counted");
    took.sort_by(f64::total_cmp);
    let at = |part: f64| took.get((part * took.len() as f64) as usize).copied().unwrap_or(f64::NAN);
    Ok([at(0.5), at(0.99), COUNT.saturating_sub(seen) as f64])
}
