//! Small synthetic results for tests.

use laxity_plan::Plan;
use laxity_sim::series::{Bin, ClassSeries, Series};
use laxity_sim::summary::{ClassSummary, DelaySummary, HopSummary, Summary, WindowSummary};

use laxity_answers::verdict::{HeldTo, JudgedRun};

/// A run of `real_time` and `best_effort` classes in which every promise is kept.
pub(crate) fn run(real_time: usize, best_effort: usize) -> (Summary, Series) {
    let names = (0..real_time)
        .map(|at| (format!("rt-{at}"), Some(10_000_000)))
        .chain((0..best_effort).map(|at| (format!("be-{at}"), None)));
    let classes: Vec<_> = names.map(|(name, deadline)| class(name, deadline)).collect();
    let series = Series { bin_ns: 100_000_000, classes: vec![class_series(); classes.len()] };
    let summary = Summary {
        title: Some("Sample".into()),
        version: "0.1.0",
        scheduler: "edf".into(),
        seed: 1,
        traffic_ns: 1_000_000_000,
        duration_ns: 1_000_000_000,
        warm_up_ns: 0,
        hops: vec![HopSummary {
            link: "link".into(),
            from: String::new(),
            to: String::new(),
            scheduler: "edf".into(),
            rate_bps: 10_000_000,
            utilization: 0.8,
            lost: 0,
            duplicated: 0,
            scheduler_bytes: Some(12_800),
            frames: None,
            autorate: None,
            classes,
        }],
        network: None,
    };
    (summary, series)
}

/// A plan of one link; what the sample's classes were promised is in its summary.
pub(crate) fn plan() -> Plan {
    let text = "version = 1\nlink.rate = \"10mbit\"\nscheduler.kind = \"edf\"\nclass.one = {}";
    Plan::parse(text, "plan.toml", "".as_ref()).unwrap()
}

/// The verdict on a summary where nobody asked for admission.
pub(crate) fn judged(summary: &Summary) -> JudgedRun {
    JudgedRun::new(&plan(), HeldTo::Plan, None, summary.clone())
}

fn class(name: String, deadline_ns: Option<u64>) -> ClassSummary {
    ClassSummary {
        parent: None,
        name,
        arrived: 100,
        sent: 98,
        dropped: [("limit", 2)].into(),
        loss_ratio: 0.02,
        marked: 0,
        queued: 0,
        nonconforming: 0,
        bytes_sent: 98_000,
        throughput_bps: 784_000.0,
        delay_ns: Some(DelaySummary {
            min: 1_000_000,
            mean: 2_500_000.0,
            stddev: 500_000.0,
            p50: 2_400_000,
            p90: 3_000_000,
            p99: 5_000_000,
            p99_9: 7_000_000,
            max: 8_000_000,
        }),
        deadline_ns,
        deadline_misses: 0,
        bound_ns: deadline_ns.map(|deadline| deadline - 1_000_000),
        bound_misses: 0,
        promised_max_ns: deadline_ns.map(|_| 8_000_000),
        windows: None,
    }
}

fn class_series() -> ClassSeries {
    let bin = |at: u64| Bin {
        packets: 10,
        bytes: 10_000,
        delay_sum: 25_000_000,
        delay_max: 3_000_000 + at * 500_000,
    };
    ClassSeries {
        bins: (0..10).map(bin).collect(),
        exceedance: vec![(1_000_000, 0.9), (2_500_000, 0.5), (5_000_000, 0.01), (8_000_000, 0.0)],
    }
}

/// The windows of sixty streams, with `violations` violated windows.
pub(crate) fn windows(violations: u64) -> Box<WindowSummary> {
    Box::new(WindowSummary {
        loss: "1/80".into(),
        streams: 60,
        proved: true,
        packets: 98,
        lost: 7,
        windows: 19,
        violations,
        consecutive_windows: 1,
        consecutive_violations: 0,
        longest_run: 2,
        deadline_misses: 9,
    })
}
