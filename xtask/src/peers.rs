//! Networks that another simulator knows: ns-2 and `laxity run` are given the same dumbbells, and
//! what they measure is put side by side.

mod laxity;
mod measures;
mod ns2;

use std::path::PathBuf;
use std::time::Duration;

use crate::outcome::Done;
use crate::release;
use crate::steps::Step;
use crate::workspace::Workspace;

/// A network as both are told of it.
struct Case {
    title: &'static str,
    /// In s.
    duration: u32,
    /// What `dumbbell.tcl` is told besides.
    ns2: &'static [&'static str],
    /// The plan beside `dumbbell.tcl`.
    plan: &'static str,
}

const CASES: [Case; 7] = [
    Case {
        title: "DropTail: 32 TCP connections and 1.999 Mbit/s of UDP on 1 Mbit/s",
        duration: 200,
        ns2: &["queue=droptail", "tcp=32", "udp=1999kb", "access=10Mb", "bottleneck=1Mb"],
        plan: "droptail.toml",
    },
    Case {
        title: "RED: 32 TCP connections and 1.999 Mbit/s of UDP on 1 Mbit/s",
        duration: 200,
        ns2: &["queue=red", "tcp=32", "udp=1999kb", "access=10Mb", "bottleneck=1Mb"],
        plan: "red.toml",
    },
    Case {
        title: "RED: 32 TCP connections alone on 1 Mbit/s",
        duration: 200,
        ns2: &["queue=red", "tcp=32", "access=10Mb", "bottleneck=1Mb"],
        plan: "alone.toml",
    },
    Case {
        title: "RED: 32 SACK connections alone on 1 Mbit/s",
        duration: 200,
        ns2: &["queue=red", "variant=sack", "tcp=32", "access=10Mb", "bottleneck=1Mb"],
        plan: "sack.toml",
    },
    Case {
        title: "RED and ECN: 32 TCP connections with windows of 6 on 1 Mbit/s",
        duration: 200,
        ns2: &["queue=red", "ecn=1", "window=6", "tcp=32", "access=10Mb", "bottleneck=1Mb"],
        plan: "ecn.toml",
    },
    Case {
        title: "RED and ECN: 32 SACK connections alone on 1 Mbit/s",
        duration: 200,
        ns2: &["queue=red", "ecn=1", "variant=sack", "tcp=32", "access=10Mb", "bottleneck=1Mb"],
        plan: "ecn-sack.toml",
    },
    Case {
        title: "DropTail: 100 TCP connections on 100 Mbit/s",
        duration: 20,
        ns2: &["queue=droptail", "tcp=100", "access=1000Mb", "bottleneck=100Mb"],
        plan: "fast.toml",
    },
];

/// Of a segment and of a datagram.
const PACKET_BITS: f64 = 8_000.0;

/// What one run measured.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    /// Bits a second.
    tcp: f64,
    udp: f64,
    /// Jain's index of the goodputs of all flows.
    fairness: f64,
    /// Of the packets that left the bottleneck.
    wait: Wait,
    /// Packets, before the bottleneck.
    dropped: u64,
    /// Segments.
    retransmitted: u64,
    timeouts: u64,
    /// Windows cut for echoes of congestion.
    echoes: u64,
    /// Packets that were sent over a link, acknowledgements included.
    hops: u64,
    /// How long it ran: ns-2 from the first event on, because it takes longer to find the routes of
    /// many nodes than to simulate them; Laxity from the program's start on.
    took: Duration,
}

/// The time in a queue in s.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wait {
    mean: f64,
    deviation: f64,
}

impl Wait {
    /// Over the packets of several classes: how many there are, their mean, and its variance.
    fn over(classes: impl Iterator<Item = (u64, f64, f64)>) -> Wait {
        let (count, sum, squares) =
            classes.fold((0.0, 0.0, 0.0), |(count, sum, squares), (n, mean, variance)| {
                let n = n as f64;
                (count + n, sum + n * mean, squares + n * (variance + mean * mean))
            });
        let mean = sum / count;
        Wait { mean, deviation: (squares / count - mean * mean).max(0.0).sqrt() }
    }
}

/// Jain's index of fairness (Jain, Chiu, Hawe 1984).
fn jain(goodputs: &[f64]) -> f64 {
    let sum: f64 = goodputs.iter().sum();
    let squares: f64 = goodputs.iter().map(|goodput| goodput * goodput).sum();
    sum * sum / (goodputs.len() as f64 * squares)
}

/// Runs every network with seeds 1 to `seeds` under both; fails where they differ more than
/// [`measures`] tolerates.
pub fn step(seeds: u32) -> Step {
    Step::new("peers", move |workspace| {
        if !ns2::is_installed(workspace) {
            return Ok(Done::Skipped("ns-2 is not installed (Debian's package ns2)".into()));
        }
        release::build(workspace, release::DIST)?;
        let mut apart = Vec::new();
        for case in &CASES {
            apart.extend(compare(workspace, case, seeds)?);
        }
        match apart.is_empty() {
            true => Ok(Done::Passed),
            false => Err(format!("beyond what is tolerated:\n  {}", apart.join("\n  "))),
        }
    })
}

/// Prints one network's table; gives what is beyond its tolerance.
fn compare(workspace: &Workspace, case: &Case, seeds: u32) -> Result<Vec<String>, String> {
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for seed in 1..=seeds {
        theirs.push(ns2::run(workspace, case, seed)?);
        ours.push(laxity::run(workspace, case, seed)?);
    }
    println!("\n{}, {} s, seeds 1 to {seeds}", case.title, case.duration);
    let (table, apart) = measures::table(&theirs, &ours);
    print!("{table}");
    Ok(apart.into_iter().map(|name| format!("{}: {name}", case.title)).collect())
}

/// A file beside `dumbbell.tcl`.
fn beside(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.root().join("xtask/src/peers").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_of_classes_are_one_distribution() {
        // 1, 3 and 5, 5: mean 3.5, squares' mean 15.
        let wait = Wait::over([(2, 2.0, 1.0), (2, 5.0, 0.0)].into_iter());
        assert_eq!(wait.mean, 3.5);
        assert!((wait.deviation - 2.75f64.sqrt()).abs() < 1e-12, "{wait:?}");
    }

    #[test]
    fn fairness() {
        assert_eq!(jain(&[3.0, 3.0]), 1.0);
        assert_eq!(jain(&[8.0, 0.0, 0.0, 0.0]), 0.25);
    }
}
