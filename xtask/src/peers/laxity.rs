//! `laxity run` and its summary.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Deserialize;

use super::case::{Case, beside};
use super::run::{Completion, PACKET_BITS, Run, Wait, jain};
use crate::release;
use crate::workspace::Workspace;

#[derive(Deserialize)]
struct Summary {
    classes: Vec<Class>,
    hops: Vec<Hop>,
    flows: Vec<Flow>,
    hop_departures: u64,
}

#[derive(Deserialize)]
struct Class {
    goodput_bps: f64,
    tcp: Option<Tcp>,
}

#[derive(Deserialize)]
struct Tcp {
    retransmitted: u64,
    timeouts: u64,
    echoes: u64,
    completion_ns: Option<Distribution>,
}

#[derive(Deserialize)]
struct Distribution {
    mean: f64,
    p50: f64,
    p99: f64,
}

#[derive(Deserialize)]
struct Hop {
    from: String,
    to: String,
    rate_bps: f64,
    classes: Vec<AtHop>,
}

#[derive(Deserialize)]
struct AtHop {
    sent: u64,
    bytes_sent: u64,
    dropped: BTreeMap<String, u64>,
    delay_ns: Option<Delay>,
}

#[derive(Deserialize)]
struct Delay {
    mean: f64,
    stddev: f64,
}

#[derive(Deserialize)]
struct Flow {
    goodput_bps: f64,
}

/// Runs a network once.
pub(super) fn run(workspace: &Workspace, case: &Case, seed: u32) -> Result<Run, String> {
    let mut command = workspace.program(release::binary(workspace, release::DIST));
    command.arg("run").arg(beside(workspace, case.plan)).arg("--json");
    command.args(["--seed", &seed.to_string()]);
    command.args(["--duration", &format!("{}s", case.duration)]);
    let begin = Instant::now();
    let printed = workspace.output_of(&mut command)?;
    let took = begin.elapsed();
    let summary: Summary =
        serde_json::from_str(&printed).map_err(|error| format!("{}: {error}", case.plan))?;
    let bottleneck = summary.hops.iter().find(|hop| hop.from == "r1" && hop.to == "r2");
    let bottleneck = bottleneck.ok_or_else(|| format!("{}: nothing from r1 to r2", case.plan))?;
    let goodput = |tcp: bool| {
        let classes = summary.classes.iter().filter(|class| class.tcp.is_some() == tcp);
        classes.map(|class| class.goodput_bps).sum()
    };
    let goodputs: Vec<f64> = summary.flows.iter().map(|flow| flow.goodput_bps).collect();
    let completion =
        summary.classes.iter().find_map(|class| class.tcp.as_ref()?.completion_ns.as_ref());
    let senders = || summary.classes.iter().filter_map(|class| class.tcp.as_ref());
    Ok(Run {
        tcp: goodput(true),
        udp: goodput(false),
        fairness: if completion.is_none() { jain(&goodputs) } else { 0.0 },
        completion: completion.map_or(Completion::default(), |took| Completion {
            mean: took.mean / 1e9,
            median: took.p50 / 1e9,
            p99: took.p99 / 1e9,
        }),
        wait: bottleneck.wait(),
        dropped: bottleneck.classes.iter().flat_map(|class| class.dropped.values()).sum(),
        retransmitted: senders().map(|tcp| tcp.retransmitted).sum(),
        timeouts: senders().map(|tcp| tcp.timeouts).sum(),
        echoes: senders().map(|tcp| tcp.echoes).sum(),
        hops: summary.hop_departures,
        took,
    })
}

impl Hop {
    /// A hop's delay ends with the last bit, a wait with the first. By how much waits vary is known
    /// where all packets are of one length.
    fn wait(&self) -> Wait {
        Wait::over(self.classes.iter().filter_map(|class| {
            let Delay { mean, stddev } = class.delay_ns.as_ref()?;
            let bits = class.bytes_sent as f64 * 8.0;
            let is_one_length = bits == class.sent as f64 * PACKET_BITS;
            let variance = if is_one_length { (stddev / 1e9).powi(2) } else { f64::NAN };
            let takes = bits / class.sent as f64 / self.rate_bps;
            Some((class.sent, mean / 1e9 - takes, variance))
        }))
    }
}
