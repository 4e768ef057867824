//! Measures a scenario of the laboratory under disciplines, one after the other:
//!
//! ```sh
//! cargo run --release -p laxity-live --example trial -- sparse 60 edf/background edf/exact
//! ```
//!
//! Scenarios are `full`, more than the link carries, and `sparse`, three quarters of it; the number
//! is how many seconds each discipline has. Needs root, or `unshare -Urn`.

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::time::Duration;

    use laxity_live::Options;
    use laxity_live::demo::{Scenario, Trial};

    let usage = "give a scenario (full or sparse), seconds and disciplines";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scenario, seconds, schedulers @ ..] = &arguments[..] else { return Err(usage.into()) };
    let scenario = match &**scenario {
        "full" => Scenario::full(),
        "sparse" => Scenario::sparse(),
        _ => return Err(usage.into()),
    };
    let time = Duration::from_secs(seconds.parse()?);
    println!("scheduler       stream       lost   mean ms    p50    p99  p99.9    max");
    for scheduler in schedulers {
        let trial =
            Trial { scenario: scenario.under(scheduler), options: Options::default(), time };
        let outcome = trial.run(&mut |_| {})?;
        for stream in &outcome.heard.streams {
            let Some(delay) = &stream.delay_ns else { continue };
            let [p50, p99, p99_9, max] = [delay.p50, delay.p99, delay.p99_9, delay.max]
                .map(|nanos| format!("{:6.2}", nanos as f64 / 1e6));
            let (name, lost, mean) = (stream.name, stream.lost, delay.mean / 1e6);
            println!("{scheduler:15} {name:10} {lost:6} {mean:9.3} {p50} {p99} {p99_9} {max}");
        }
        let late = outcome.way.late.map_or(0, |late| late.max) as f64 / 1e6;
        let broken = outcome.way.broken;
        println!("{:?}, {late:.2} ms late, {broken} broken", outcome.heard.carried);
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {}
