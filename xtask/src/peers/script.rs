//! Simulators that are told KEY=VALUE and print what `dumbbell.tcl` says.

use std::process::Command;
use std::time::Duration;

use super::case::Case;
use super::run::{Completion, Run, Wait, jain};
use crate::workspace::Workspace;

/// Runs a network twice: measured, and without for its time.
pub(super) fn run(
    workspace: &Workspace,
    case: &Case,
    seed: u32,
    command: impl Fn() -> Command,
) -> Result<Run, String> {
    let printed = |measure: u32| {
        let mut command = command();
        command.args([format!("seed={seed}"), format!("seconds={}", case.duration)]);
        command.arg(format!("measure={measure}"));
        workspace.output_of(&mut command)
    };
    let run = read(&printed(1)?, case.duration)?;
    let alone = printed(0)?;
    let took = alone.lines().find_map(|line| line.strip_prefix("took ")?.parse().ok());
    let took = took.ok_or_else(|| format!("{}: nothing says how long it took", case.title))?;
    Ok(Run { took: Duration::from_micros(took), ..run })
}

/// Reads what a measured run printed.
fn read(printed: &str, seconds: u32) -> Result<Run, String> {
    let mut tcp = Vec::new();
    let mut udp = Vec::new();
    let mut waits = Vec::new();
    let mut transfers = Vec::new();
    let (mut dropped, mut retransmitted, mut timeouts, mut echoes, mut hops) = (0, 0, 0, 0, 0);
    for line in printed.lines() {
        let odd = || format!("what is `{line}`?");
        let mut words = line.split_whitespace();
        let name = words.next();
        let values: Result<Vec<f64>, _> = words.map(str::parse).collect();
        match (name, values.map_err(|_| odd())?.as_slice()) {
            (Some("connection"), &[bytes, again, expired, cut]) => {
                tcp.push(bytes * 8.0 / f64::from(seconds));
                retransmitted += again as u64;
                timeouts += expired as u64;
                echoes += cut as u64;
            }
            (Some("stream"), &[bytes]) => udp.push(bytes * 8.0 / f64::from(seconds)),
            (Some("transfer"), &[seconds]) => transfers.push(seconds),
            (Some("bottleneck"), &[class, arrived, sent, lost, mean, variance]) => {
                dropped += lost as u64;
                waits.push((sent as u64, mean, variance));
                // The access link, the bottleneck and the exit; for TCP three links back.
                let links = if class == 1.0 { 5 } else { 2 };
                hops += arrived as u64 + links * sent as u64;
            }
            // Counted over any links.
            (Some("hops"), &[all]) => hops = all as u64,
            (Some("took"), &[_]) => {}
            _ => return Err(odd()),
        }
    }
    if waits.is_empty() {
        return Err("nothing was printed about the bottleneck".into());
    }
    Ok(Run {
        tcp: tcp.iter().sum(),
        udp: udp.iter().sum(),
        fairness: if transfers.is_empty() { jain(&[tcp, udp].concat()) } else { 0.0 },
        completion: Completion::new(transfers),
        wait: Wait::over(waits.into_iter()),
        dropped,
        retransmitted,
        timeouts,
        echoes,
        hops,
        took: Duration::ZERO,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_script_prints() {
        let printed = "\
connection 3000 10 5 1
connection 1000 8 2 3
stream 4000
bottleneck 2 90 40 48 2.5 0.25
bottleneck 1 9 4 5 2.5 0.25
took 1234
";
        let run = read(printed, 2).unwrap();
        assert_eq!((run.tcp, run.udp), (16_000.0, 16_000.0));
        assert_eq!(run.fairness, 64.0 / (3.0 * 26.0), "of 3, 1 and 4");
        assert_eq!(run.wait, Wait { mean: 2.5, deviation: 0.5 });
        assert_eq!((run.dropped, run.retransmitted, run.timeouts, run.echoes), (53, 18, 7, 4));
        assert_eq!(run.hops, (90 + 2 * 40) + (9 + 5 * 4));
    }

    #[test]
    fn anything_else_is_refused() {
        let measured = "bottleneck 1 9 4 5 2.5 0.25\n";
        for (more, refused) in [
            ("", false),
            ("warning: no such variable\n", true),
            ("stream\n", true),
            ("stream 12 13\n", true),
            ("connection 3000 ten 5 1\n", true),
        ] {
            let printed = format!("{measured}{more}");
            assert_eq!(read(&printed, 1).is_err(), refused, "{more}");
        }
        assert!(read("connection 3000 10 5 1\n", 1).is_err(), "a run that was not measured");
    }
}
