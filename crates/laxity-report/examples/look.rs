//! Writes reports from synthetic results into the folder it is given, to look at.

use std::f64::consts::TAU;
use std::path::Path;

use laxity_report::figures::{CurveFigure, NamedCurve, PacketDelays};
use laxity_report::html::{AdmissionView, ReportInput, compare_html, html};
use laxity_report::table::{class_table, compare_table};
use laxity_sim::series::{Bin, ClassSeries, Series};
use laxity_sim::summary::{ClassSummary, DelaySummary, LinkSummary, Summary};

const SECONDS: u64 = 360;
const BIN_NS: u64 = 400_000_000;

/// A class to make up: name, deadline and bound in ms, bytes a second, typical delay in ms.
type Sketch<'a> = (&'a str, Option<(f64, f64)>, f64, f64);

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "/tmp/report-look".to_owned());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let usual: [Sketch; 6] = [
        ("transactions", Some((20.0, 14.2)), 50e3, 0.8),
        ("video", Some((30.0, 21.9)), 500e3, 1.6),
        ("voice", Some((5.0, 3.1)), 60e3, 0.5),
        ("ftp", None, 100e3, 1.9),
        ("http", None, 80e3, 1.9),
        ("mail", None, 40e3, 2.1),
    ];
    let (edf, edf_series) =
        run("edf", "Access link: voice, video, transactions, and everything else", &usual);
    std::fs::write(folder.join("report.html"), single(&edf, &edf_series))?;
    println!("{}\n", class_table(&edf));

    let slower = usual.map(|(name, promise, rate, delay)| (name, promise, rate, delay * 2.5));
    let (fifo, fifo_series) = run("fifo", "Access link", &slower);
    let compared = compare_html(&[(&edf, &edf_series), (&fifo, &fifo_series)]);
    std::fs::write(folder.join("compare.html"), compared)?;
    println!("{}\n", compare_table(&[edf, fifo]));

    let long = "a-class-whose-name-says-everything-that-there-is-to-say-about-it-and-more";
    let names: Vec<String> = (0..9).map(|at| format!("sensor-{at}")).collect();
    let mut odd: Vec<Sketch> = vec![
        ("<script>alert(1)</script>", Some((0.02, 0.004)), 500e3, 0.001),
        (long, Some((10_000.0, 8_000.0)), 1e3, 900.0),
        ("silent", Some((5.0, 4.0)), 0.0, 1.0),
    ];
    let wide = |(at, name): (usize, &'static str)| (name, None, 20e3, 0.004 * 4f64.powi(at as i32));
    let names: Vec<&'static str> = names.into_iter().map(|name| &*name.leak()).collect();
    odd.extend(names.into_iter().enumerate().map(wide));
    let (summary, series) = run("edf", "Awkward <b>names</b> and delays from 1 µs to 10 s", &odd);
    std::fs::write(folder.join("awkward.html"), single(&summary, &series))?;
    println!("{}\n", class_table(&summary));

    let (summary, series) = run("fifo", "One class", &[("everything", None, 1.2e6, 12.0)]);
    std::fs::write(folder.join("one.html"), single(&summary, &series))
}

fn single(summary: &Summary, series: &Series) -> String {
    let line = |name: &str, from: f64, gamma: f64| NamedCurve {
        name: name.to_owned(),
        points: vec![(from, 0.0), (60.0, (60.0 - from) * gamma)],
    };
    let residual = [
        (0.0, 0.0),
        (1.2, 0.0),
        (5.0, 4.7),
        (5.0, 4.4),
        (12.0, 10.0),
        (20.0, 19.0),
        (20.0, 7.5),
        (30.0, 12.0),
        (30.0, 8.9),
        (60.0, 24.0),
    ];
    let effective = [
        (0.0, 0.0),
        (1.2, 0.0),
        (5.0, 4.4),
        (8.1, 7.5),
        (20.0, 7.5),
        (21.4, 8.9),
        (30.0, 8.9),
        (60.0, 24.0),
    ];
    let curves = CurveFigure {
        title: "Residual link capacity".into(),
        caption:
            "What the real-time classes are sure to leave within any interval of a given length."
                .into(),
        curves: vec![
            NamedCurve { name: "R(t)".into(), points: residual.to_vec() },
            NamedCurve { name: "E(t)".into(), points: effective.to_vec() },
            line("line through the origin", 0.0, 0.29),
            line("shifted line", 10.0, 0.44),
        ],
    };
    let sticks = |name: &str, scale: f64| PacketDelays {
        subject: 0,
        name: name.to_owned(),
        packets: (0..600u64)
            .map(|n| (100_000_000_000 + n * 16_000_000, (noise(n) * scale) as u64))
            .collect(),
    };
    html(&ReportInput {
        summary,
        series,
        admission: Some(AdmissionView {
            admitted: true,
            statement: "Every class meets its deadline; video binds, with 8.1 ms to spare.".into(),
            details: vec![("Reserved".into(), "64 %".into()), ("Slack".into(), "8.1 ms".into())],
        }),
        curves: Some(curves),
        packets: vec![sticks("video, background", 3.4e6), sticks("ftp, background", 2.2e7)],
    })
}

fn run(scheduler: &str, title: &str, sketches: &[Sketch]) -> (Summary, Series) {
    let made: Vec<_> =
        sketches.iter().enumerate().map(|(at, sketch)| class(at as u64, sketch)).collect();
    let (classes, series) = made.into_iter().unzip();
    let summary = Summary {
        title: Some(title.to_owned()),
        version: "0.1.0",
        scheduler: scheduler.to_owned(),
        seed: 1,
        duration_ns: SECONDS * 1_000_000_000,
        warm_up_ns: 0,
        link: LinkSummary { rate_bps: 10_000_000, utilization: 0.8312 },
        scheduler_bytes: 12_800,
        classes,
    };
    (summary, Series { bin_ns: BIN_NS, classes: series })
}

fn class(at: u64, (name, promise, rate, delay): &Sketch) -> (ClassSummary, ClassSeries) {
    let ns = |ms: f64| (ms * 1e6) as u64;
    let bins: Vec<Bin> =
        (0..SECONDS * 1_000_000_000 / BIN_NS).map(|n| bin(at, n, *rate, *delay)).collect();
    let sent: u64 = bins.iter().map(|bin| bin.packets).sum();
    let max = bins.iter().map(|bin| bin.delay_max).max().unwrap_or(0);
    let steps = 200u32;
    let tail = |n: u32| {
        let share = f64::from(n) / f64::from(steps);
        ((max as f64 * (0.1 + 0.9 * share * share)) as u64, (-12.0 * share.powf(1.3)).exp())
    };
    let exceedance = (0..steps).map(tail).chain([(max, 0.0)]).filter(|_| sent > 0).collect();
    let delays = DelaySummary {
        min: max / 10,
        mean: delay * 1e6,
        stddev: 1.0,
        p50: ns(*delay),
        p90: max / 2,
        p99: max / 10 * 7,
        p99_9: max / 10 * 9,
        max,
    };
    let summary = ClassSummary {
        name: (*name).to_owned(),
        arrived: sent,
        sent,
        dropped: Default::default(),
        nonconforming: 0,
        bytes_sent: bins.iter().map(|bin| bin.bytes).sum(),
        throughput_bps: rate * 8.0,
        delay_ns: (sent > 0).then_some(delays),
        deadline_ns: promise.map(|(deadline, _)| ns(deadline)),
        deadline_misses: u64::from(promise.is_some_and(|(deadline, _)| max > ns(deadline))) * 17,
        bound_ns: promise.map(|(_, bound)| ns(bound)),
        bound_misses: u64::from(promise.is_some_and(|(_, bound)| max > ns(bound))) * 3,
        promised_max_ns: promise.map(|_| max),
    };
    (summary, ClassSeries { bins, exceedance })
}

fn bin(class: u64, n: u64, rate: f64, delay: f64) -> Bin {
    let chance = noise(class * 7919 + n);
    let load =
        rate * (0.7 + 0.3 * (TAU * n as f64 / (90.0 + 40.0 * class as f64)).sin() + 0.3 * chance);
    if load <= 0.0 || (class == 3 && (300..380).contains(&n)) {
        return Bin::default();
    }
    let bytes = (load * BIN_NS as f64 / 1e9) as u64;
    let packets = (bytes / 500).max(1);
    let mean = (delay * 1e6 * (0.8 + 0.4 * chance)) as u64;
    let delay_max = (mean as f64 * (1.3 + 3.5 * noise(class * 104_729 + n * 3).powi(6))) as u64;
    Bin { packets, bytes, delay_sum: mean * packets, delay_max }
}

/// The same number from 0 to 1 for the same `n`, everywhere.
fn noise(n: u64) -> f64 {
    let mixed = (n ^ (n >> 31)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed >> 40) as f64) / (1u64 << 24) as f64
}
