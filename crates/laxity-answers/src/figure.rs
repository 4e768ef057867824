//! The figures of a run: one list, from which tables, JSON and reports of several seeds are made.

use laxity_sim::summary::{
    AutorateSummary, ClassSummary, DelaySummary, EndToEnd, HopSummary, Summary,
};

/// A figure of a run.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The class, or `link`.
    pub class: String,
    /// The output of a network, `from → to`; absent for one link, and from end to end.
    pub at: Option<String>,
    /// What it is, as the summary calls it.
    pub name: &'static str,
    /// Its value in the unit of its name, if the run has it.
    pub value: Option<f64>,
}

/// The names of all figures, as summaries call them.
pub const NAMES: [&str; 32] = [
    "utilization",
    "arrived",
    "sent",
    "dropped",
    "deadline_misses",
    "throughput_bps",
    "goodput_bps",
    "fairness",
    "delay_ns.min",
    "delay_ns.mean",
    "delay_ns.p50",
    "delay_ns.p99",
    "delay_ns.p99_9",
    "delay_ns.max",
    "windows.lost",
    "windows.violations",
    "windows.longest_run",
    "tcp.retransmitted",
    "tcp.recoveries",
    "tcp.timeouts",
    "tcp.completed",
    "tcp.completion_ns.mean",
    "autorate.used",
    "autorate.mean_bps",
    "autorate.lost",
    "autorate.seconds_missed",
    "autorate.queueing_ns.p50",
    "autorate.queueing_ns.p99",
    "autorate.delay_ns.mean",
    "autorate.delay_ns.p99",
    "autorate.delay_ns.p99_9",
    "autorate.delay_ns.max",
];

/// All figures of a run, in a fixed order: those of its link, or those from end to end and then
/// those of every hop.
pub fn figures(summary: &Summary) -> Vec<Figure> {
    match &summary.network {
        None => summary.hops.iter().flat_map(|hop| at_hop(hop, None)).collect(),
        Some(network) => {
            let whole = network.classes.iter().flat_map(from_end_to_end);
            let hops = summary.hops.iter().map(|hop| (hop, hop.output()));
            let hops = hops.flat_map(|(hop, at)| at_hop(hop, Some(&at)).collect::<Vec<_>>());
            whole.chain(hops).collect()
        }
    }
}

/// The name of a figure, and its value if the run has it.
type Value = (&'static str, Option<f64>);

fn from_end_to_end(class: &EndToEnd) -> impl Iterator<Item = Figure> {
    let missed = class.deadline_ns.map(|_| ("deadline_misses", count(class.deadline_misses)));
    let fairness = (class.flows > 1).then_some(("fairness", class.fairness));
    let tcp = class.tcp.iter().flat_map(|tcp| {
        [
            ("tcp.retransmitted", count(tcp.retransmitted)),
            ("tcp.recoveries", count(tcp.recoveries)),
            ("tcp.timeouts", count(tcp.timeouts)),
            ("tcp.completed", count(tcp.completed)),
            ("tcp.completion_ns.mean", tcp.completion_ns.map(|delay| delay.mean)),
        ]
    });
    let values = [("sent", count(class.sent)), ("dropped", count(class.dropped))];
    let values = values.into_iter().chain(missed);
    let values = values.chain([("goodput_bps", Some(class.goodput_bps))]).chain(fairness);
    let values = values.chain(delays(class.delay_ns.as_ref())).chain(tcp);
    values.map(|value| figure(&class.name, None, value))
}

fn at_hop<'a>(hop: &'a HopSummary, at: Option<&'a str>) -> impl Iterator<Item = Figure> {
    let link = figure("link", at, ("utilization", Some(hop.utilization)));
    let classes = hop.classes.iter().flat_map(move |class| {
        let values = at_output(class, at.is_none());
        values.map(move |value| figure(&class.name, at, value))
    });
    let found = hop.autorate.iter().flat_map(move |found| at_shaper(found, at));
    std::iter::once(link).chain(classes).chain(found)
}

/// The figures of a shaper whose rate is found.
fn at_shaper<'a>(
    found: &'a AutorateSummary,
    at: Option<&'a str>,
) -> impl Iterator<Item = Figure> + 'a {
    let queueing = found.queueing_ns;
    let link = [
        ("autorate.used", found.used),
        ("autorate.mean_bps", found.mean_bps),
        ("autorate.lost", count(found.lost)),
        ("autorate.seconds_missed", count(found.seconds_missed)),
        ("autorate.queueing_ns.p50", queueing.and_then(|delay| count(delay.p50))),
        ("autorate.queueing_ns.p99", queueing.and_then(|delay| count(delay.p99))),
    ];
    let classes = found.classes.iter().flat_map(move |class| {
        let delay = class.delay_ns;
        let values = [
            ("autorate.delay_ns.mean", delay.map(|delay| delay.mean)),
            ("autorate.delay_ns.p99", delay.and_then(|delay| count(delay.p99))),
            ("autorate.delay_ns.p99_9", delay.and_then(|delay| count(delay.p99_9))),
            ("autorate.delay_ns.max", delay.and_then(|delay| count(delay.max))),
        ];
        values.into_iter().map(move |value| figure(&class.name, at, value))
    });
    link.into_iter().map(move |value| figure("link", at, value)).chain(classes)
}

/// The figures of a class at an output, or on the only link.
fn at_output(class: &ClassSummary, is_only_link: bool) -> impl Iterator<Item = Value> {
    let counts = [
        ("arrived", count(class.arrived)),
        ("sent", count(class.sent)),
        ("dropped", count(class.dropped.values().sum())),
    ];
    let missed = class.deadline_ns.map(|_| ("deadline_misses", count(class.deadline_misses)));
    let throughput = is_only_link.then_some(("throughput_bps", Some(class.throughput_bps)));
    let windows = class.windows.iter().flat_map(|windows| {
        [
            ("windows.lost", count(windows.lost)),
            ("windows.violations", count(windows.violations)),
            ("windows.longest_run", count(windows.longest_run)),
        ]
    });
    let values = counts.into_iter().chain(missed).chain(throughput);
    values.chain(delays(class.delay_ns.as_ref())).chain(windows)
}

fn delays(delay: Option<&DelaySummary>) -> [Value; 6] {
    [
        ("delay_ns.min", delay.and_then(|delay| count(delay.min))),
        ("delay_ns.mean", delay.map(|delay| delay.mean)),
        ("delay_ns.p50", delay.and_then(|delay| count(delay.p50))),
        ("delay_ns.p99", delay.and_then(|delay| count(delay.p99))),
        ("delay_ns.p99_9", delay.and_then(|delay| count(delay.p99_9))),
        ("delay_ns.max", delay.and_then(|delay| count(delay.max))),
    ]
}

fn count(value: u64) -> Option<f64> {
    Some(value as f64)
}

fn figure(class: &str, at: Option<&str>, (name, value): Value) -> Figure {
    debug_assert!(NAMES.contains(&name), "{name} is not listed");
    Figure { class: class.to_owned(), at: at.map(str::to_owned), name, value }
}
