//! What is compared, and how much it may differ.

use super::run::Run;

/// One line of a table.
struct Measure {
    name: &'static str,
    /// How many digits follow the point.
    digits: usize,
    of: fn(&Run) -> f64,
    /// The largest relative difference of the means that is taken for the same.
    tolerance: f64,
    /// Whether it is held to that beside a peer whose TCP is another, too.
    whatever_tcp: bool,
}

impl Measure {
    const fn new(
        name: &'static str,
        digits: usize,
        of: fn(&Run) -> f64,
        tolerance: f64,
    ) -> Measure {
        Measure { name, digits, of, tolerance, whatever_tcp: false }
    }

    const fn whatever_tcp(self) -> Measure {
        Measure { whatever_tcp: true, ..self }
    }
}

/// Tolerances follow from the freedom that the two have. Links and queues are the same to the
/// packet, so the throughput and the queue of a busy link must agree closely. Shares of
/// connections, drops and retransmissions depend on each sender's NewReno, whose details RFC 6582
/// leaves open, and are chaotic: one packet changes all that follow. Beside a peer with other
/// timers and handshakes they are shown and not judged. Timeouts are the rarest and the most
/// sensitive. With ECN almost only echoes cut windows, and filling the same link takes the same
/// number of them.
const MEASURES: [Measure; 13] = [
    Measure::new("goodput TCP [kbit/s]", 2, |run| run.tcp / 1e3, 0.1).whatever_tcp(),
    Measure::new("goodput UDP [kbit/s]", 2, |run| run.udp / 1e3, 0.02).whatever_tcp(),
    Measure::new("fairness of all flows", 4, |run| run.fairness, 0.1),
    Measure::new("completion mean [ms]", 2, |run| 1e3 * run.completion.mean, 0.05),
    Measure::new("completion p50 [ms]", 2, |run| 1e3 * run.completion.median, 0.05),
    Measure::new("completion p99 [ms]", 2, |run| 1e3 * run.completion.p99, 0.2),
    Measure::new("wait mean [ms]", 2, |run| 1e3 * run.wait.mean, 0.05),
    Measure::new("wait deviation [ms]", 2, |run| 1e3 * run.wait.deviation, 0.2),
    Measure::new("dropped", 0, |run| run.dropped as f64, 0.2),
    Measure::new("retransmitted", 0, |run| run.retransmitted as f64, 0.3),
    Measure::new("timeouts", 0, |run| run.timeouts as f64, 0.5),
    Measure::new("windows cut for echoes", 0, |run| run.echoes as f64, 0.2),
    Measure::new("hop departures", 0, |run| run.hops as f64, 0.05),
];

/// Mean and deviation over the seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    mean: f64,
    deviation: f64,
}

impl Spread {
    /// The spread of at least two values.
    fn new(values: impl ExactSizeIterator<Item = f64> + Clone) -> Spread {
        let count = values.len() as f64;
        let mean = values.clone().sum::<f64>() / count;
        let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
        Spread { mean, deviation: (squares / (count - 1.0)).sqrt() }
    }
}

/// How two measurements of the same differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Alike,
    /// By more than both deviations together: not by the seeds alone.
    Apart,
    /// By more than what is tolerated, too.
    BeyondTolerance,
}

fn judge(theirs: Spread, ours: Spread, tolerance: f64) -> Verdict {
    let difference = (ours.mean - theirs.mean).abs();
    if difference <= theirs.deviation + ours.deviation {
        Verdict::Alike
    } else if difference <= tolerance * theirs.mean.abs() {
        Verdict::Apart
    } else {
        Verdict::BeyondTolerance
    }
}

/// A simulator beside which we are put.
pub(super) struct Peer {
    pub name: String,
    /// Whether its TCP is ours but for what RFCs leave to choose.
    pub has_our_tcp: bool,
}

/// The table of a network beside a peer, and the names of what is beyond its tolerance.
pub(super) fn table(peer: &Peer, theirs: &[Run], ours: &[Run]) -> (String, Vec<&'static str>) {
    let mut table = line("mean ± deviation", &peer.name, "laxity", "ratio", "tolerated", "");
    let mut beyond = Vec::new();
    for &Measure { name, digits, of, tolerance, whatever_tcp } in &MEASURES {
        let [their, our] = [theirs, ours].map(|runs| Spread::new(runs.iter().map(of)));
        if their.mean == 0.0 && our.mean == 0.0 || our.mean.is_nan() {
            continue;
        }
        let tolerance = (peer.has_our_tcp || whatever_tcp).then_some(tolerance);
        let verdict = judge(their, our, tolerance.unwrap_or(f64::INFINITY));
        let mark = match verdict {
            Verdict::Alike => "",
            Verdict::Apart => "more than the spread of the seeds",
            Verdict::BeyondTolerance => "MORE THAN TOLERATED",
        };
        if verdict == Verdict::BeyondTolerance {
            beyond.push(name);
        }
        let show = |Spread { mean, deviation }| format!("{mean:.digits$} ± {deviation:.digits$}");
        let tolerated = tolerance.map_or("—".into(), |most| format!("{:.0} %", 100.0 * most));
        table +=
            &line(name, &show(their), &show(our), &ratio(their.mean, our.mean), &tolerated, mark);
    }
    let [their, our] = [theirs, ours].map(cost);
    let show = |cost: f64| format!("{cost:.0}");
    table += &line("ns per hop departure", &show(their), &show(our), &ratio(their, our), "", "");
    (table, beyond)
}

/// The least of all runs, in ns: other work of the machine only adds to it.
fn cost(runs: &[Run]) -> f64 {
    let costs = runs.iter().map(|run| run.took.as_secs_f64() * 1e9 / run.hops as f64);
    costs.fold(f64::INFINITY, f64::min)
}

fn ratio(theirs: f64, ours: f64) -> String {
    format!("{:.3}", ours / theirs)
}

fn line(name: &str, theirs: &str, ours: &str, ratio: &str, tolerated: &str, mark: &str) -> String {
    let line = format!("{name:22} {theirs:>20} {ours:>20} {ratio:>7} {tolerated:>9}  {mark}");
    line.trim_end().to_string() + "\n"
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::peers::run::{Completion, Wait};

    fn run(tcp: f64, retransmitted: u64) -> Run {
        Run {
            tcp,
            udp: 0.0,
            fairness: 0.5,
            completion: Completion::default(),
            wait: Wait { mean: 0.02, deviation: 0.001 },
            dropped: 100,
            retransmitted,
            timeouts: 0,
            echoes: 0,
            hops: 1_000,
            took: Duration::from_micros(100 + retransmitted),
        }
    }

    #[test]
    fn spread_over_seeds() {
        let spread = Spread::new([1.0, 2.0, 6.0].into_iter());
        assert_eq!(spread, Spread { mean: 3.0, deviation: 7f64.sqrt() }, "(4 + 1 + 9) / 2");
    }

    #[test]
    fn verdicts() {
        let theirs = Spread { mean: 100.0, deviation: 2.0 };
        for (mean, expected) in [
            (103.0, Verdict::Alike),
            (97.0, Verdict::Alike),
            (104.0, Verdict::Apart),
            (96.0, Verdict::Apart),
            (111.0, Verdict::BeyondTolerance),
            (89.0, Verdict::BeyondTolerance),
        ] {
            let ours = Spread { mean, deviation: 1.0 };
            assert_eq!(judge(theirs, ours, 0.1), expected, "{mean}");
        }
        let scattered = Spread { mean: 150.0, deviation: 50.0 };
        assert_eq!(judge(theirs, scattered, 0.1), Verdict::Alike, "the seeds may do that");
    }

    #[test]
    fn a_table_names_what_is_beyond() {
        let theirs = [run(1_000_000.0, 40), run(1_002_000.0, 40)];
        let ours = [run(1_010_000.0, 60), run(1_012_000.0, 60)];
        let peer = Peer { name: "ns-2".into(), has_our_tcp: true };
        let (table, beyond) = table(&peer, &theirs, &ours);
        assert_eq!(beyond, ["retransmitted"]);
        let expected = "\
mean ± deviation                       ns-2               laxity   ratio tolerated
goodput TCP [kbit/s]         1001.00 ± 1.41       1011.00 ± 1.41   1.010      10 %  more than the spread of the seeds
fairness of all flows       0.5000 ± 0.0000      0.5000 ± 0.0000   1.000      10 %
wait mean [ms]                 20.00 ± 0.00         20.00 ± 0.00   1.000       5 %
wait deviation [ms]             1.00 ± 0.00          1.00 ± 0.00   1.000      20 %
dropped                             100 ± 0              100 ± 0   1.000      20 %
retransmitted                        40 ± 0               60 ± 0   1.500      30 %  MORE THAN TOLERATED
hop departures                     1000 ± 0             1000 ± 0   1.000       5 %
ns per hop departure                    140                  160   1.143
";
        assert_eq!(table, expected);
    }
}
