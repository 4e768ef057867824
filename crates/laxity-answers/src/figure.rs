//! The figures of a run: one list, from which tables, JSON and reports of several seeds are made.

use laxity_sim::summary::{ClassSummary, DelaySummary, EndToEnd, HopSummary, Summary};

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
pub const NAMES: [&str; 22] = [
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
];

/// All figures of a run, in a fixed order: those of its link, or those from end to end and then
/// those of every hop.
pub fn figures(summary: &Summary) -> Vec<Figure> {
    match &summary.network {
        None => summary.hops.iter().flat_map(|hop| at_hop(hop, None)).collect(),
        Some(network) => {
            let whole = network.classes.iter().flat_map(from_end_to_end);
            let hops = summary.hops.iter();
            let hops = hops.flat_map(|hop| at_hop(hop, Some(&hop.output())));
            whole.chain(hops).collect()
        }
    }
}

fn from_end_to_end(class: &EndToEnd) -> Vec<Figure> {
    let mut list = List::new(&class.name, None);
    list.count("sent", class.sent);
    list.count("dropped", class.dropped);
    if class.deadline_ns.is_some() {
        list.count("deadline_misses", class.deadline_misses);
    }
    list.add("goodput_bps", class.goodput_bps);
    if class.flows > 1 {
        list.add("fairness", class.fairness);
    }
    list.delays(class.delay_ns.as_ref());
    if let Some(tcp) = &class.tcp {
        list.count("tcp.retransmitted", tcp.retransmitted);
        list.count("tcp.recoveries", tcp.recoveries);
        list.count("tcp.timeouts", tcp.timeouts);
        list.count("tcp.completed", tcp.completed);
        let completion = tcp.completion_ns.map(|delay| delay.mean);
        list.add("tcp.completion_ns.mean", completion);
    }
    list.figures
}

fn at_hop(hop: &HopSummary, at: Option<&str>) -> Vec<Figure> {
    let mut list = List::new("link", at);
    list.add("utilization", hop.utilization);
    let mut all = list.figures;
    for class in &hop.classes {
        let mut list = List::new(&class.name, at);
        list.counts(class);
        if at.is_none() {
            list.add("throughput_bps", class.throughput_bps);
        }
        list.delays(class.delay_ns.as_ref());
        list.windows(class);
        all.extend(list.figures);
    }
    all
}

/// The figures of one class.
struct List<'a> {
    class: &'a str,
    at: Option<&'a str>,
    figures: Vec<Figure>,
}

impl<'a> List<'a> {
    fn new(class: &'a str, at: Option<&'a str>) -> Self {
        List { class, at, figures: Vec::new() }
    }

    fn add(&mut self, name: &'static str, value: impl Into<Option<f64>>) {
        debug_assert!(NAMES.contains(&name), "{name} is not listed");
        let (class, at) = (self.class.to_owned(), self.at.map(str::to_owned));
        self.figures.push(Figure { class, at, name, value: value.into() });
    }

    fn count(&mut self, name: &'static str, value: u64) {
        self.add(name, value as f64);
    }

    fn counts(&mut self, class: &ClassSummary) {
        self.count("arrived", class.arrived);
        self.count("sent", class.sent);
        self.count("dropped", class.dropped.values().sum());
        if class.deadline_ns.is_some() {
            self.count("deadline_misses", class.deadline_misses);
        }
    }

    fn windows(&mut self, class: &ClassSummary) {
        if let Some(windows) = &class.windows {
            self.count("windows.lost", windows.lost);
            self.count("windows.violations", windows.violations);
            self.count("windows.longest_run", windows.longest_run);
        }
    }

    fn delays(&mut self, delay: Option<&DelaySummary>) {
        type Value = fn(&DelaySummary) -> f64;
        let parts: [(&'static str, Value); 6] = [
            ("delay_ns.min", |d| d.min as f64),
            ("delay_ns.mean", |d| d.mean),
            ("delay_ns.p50", |d| d.p50 as f64),
            ("delay_ns.p99", |d| d.p99 as f64),
            ("delay_ns.p99_9", |d| d.p99_9 as f64),
            ("delay_ns.max", |d| d.max as f64),
        ];
        for (name, value) in parts {
            self.add(name, delay.map(value));
        }
    }
}
