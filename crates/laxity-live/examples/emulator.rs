//! Measures how exactly links are emulated, between two hosts and by the stamps of the receiving
//! one's kernel: the delay of datagrams that meet no queue, and what a link carries in each second
//! while more is offered than it takes.
//!
//! ```sh
//! cargo run --release -p laxity-live --example emulator -- --awake 30 20 100
//! ```
//!
//! `--awake` keeps cores from sleeping. The first number is how many seconds each measurement
//! takes, the others are rates in Mbit/s. Links have a delay of 20 ms. Needs root, or
//! `unshare -Urn`, where there is no real-time priority.

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let awake = arguments.next_if_eq("--awake").is_some();
    let arguments: Vec<u64> =
        arguments.map(|argument| argument.parse()).collect::<Result<_, _>>()?;
    let [seconds, rates @ ..] = &arguments[..] else {
        return Err("give seconds and rates in Mbit/s".into());
    };
    println!(
        "Mbit/s  added delay, beyond 20 ms and the time on the link [us]   late out of the wire [us]   seconds, of the rate [%]"
    );
    println!(
        "              min     p50     p99   p99.9     max                 p50     p99     max         least      most"
    );
    for rate in rates {
        linux::measure(*rate, *seconds, awake)?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::Path;
    use std::time::Duration;

    use laxity_live::demo::{Outcome, Scenario, Stream, Trial};
    use laxity_live::{LiveError, Options};
    use laxity_plan::Plan;

    const DELAY: u64 = 20_000_000;
    /// Headers of Ethernet, IP and UDP.
    const HEADERS: u64 = 42;

    pub(super) fn measure(
        rate: u64,
        seconds: u64,
        awake: bool,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let probe = Stream {
            name: "probe",
            port: 5004,
            payload: 200,
            burst: 1,
            every: Duration::from_millis(2),
        };
        let own = DELAY + (200 + HEADERS) * 8_000 / rate;
        let probed = run(rate, seconds, probe, awake)?;
        let delay = probed.heard.streams[0].delay_ns.as_ref().ok_or("no probe came")?;
        let [min, p50, p99, p99_9, max] =
            [delay.min, delay.p50, delay.p99, delay.p99_9, delay.max].map(|time| added(time, own));
        let wire = probed.way.wire.as_ref().and_then(|wire| wire.late_ns.as_ref());
        let wire = wire.ok_or("none came out")?;
        let late = [wire.p50, wire.p99, wire.max].map(|time| time as f64 / 1e3);
        // In bursts of a millisecond, twice what the link takes.
        let burst = (rate * 2_000 / 8 / (1_400 + HEADERS)).max(1) as u32;
        let every = Duration::from_millis(1);
        let flood = Stream { name: "flood", port: 6000, payload: 1400, burst, every };
        let flooded = run(rate, seconds, flood, awake)?;
        let carried = flooded.heard.carried.and_then(|carried| carried.seconds_bps);
        let [least, most] = carried.ok_or("no whole second was seen")?;
        let share = |bits: u64| 100.0 * bits as f64 / (rate * 1_000_000) as f64;
        println!(
            "{rate:6} {min:10.1} {p50:7.1} {p99:7.1} {p99_9:7.1} {max:7.1}            {:8.1} {:7.1} {:7.1} {:13.3} {:9.3}",
            late[0],
            late[1],
            late[2],
            share(least),
            share(most)
        );
        for outcome in [&probed, &flooded] {
            if let Some(cost) = &outcome.not_real_time {
                println!("{cost}");
            }
        }
        Ok(())
    }

    fn added(time: u64, own: u64) -> f64 {
        (time as f64 - own as f64) / 1e3
    }

    fn run(rate: u64, seconds: u64, stream: Stream, awake: bool) -> Result<Outcome, LiveError> {
        let text = format!(
            "version = 1\nlink = {{ rate = '{rate}mbit', delay = '{DELAY}ns' }}\nscheduler.kind = 'fifo'\n\
             class.all = {{ queue = {{ kind = 'droptail', limit = 3000 }} }}\n"
        );
        let plan = Plan::parse(&text, "plan.toml", Path::new("")).expect("a plan as above");
        let scenario = Scenario { plan, streams: vec![stream], flows: 0 };
        let time = Duration::from_secs(seconds);
        let options = Options { awake, ..Options::default() };
        Trial { scenario, options, time }.run(&mut |_| {})
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}
