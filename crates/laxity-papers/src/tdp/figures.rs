//! The testbed, its frames, and the tables as figures.

use laxity_plan::Plan;
use laxity_plan::tdp::Framing;

use super::blocking::{self, Curve};
use super::measures::JITTER;
use super::plans::{SCENARIOS, network_plan};
use crate::claims::Measurements;
use crate::drawing::{chart, limit, series, within};
use crate::experiment::{Part, plan};
use laxity_report::chart::{self, Along, Axis, Chart, Mark, Style, Unit};
use laxity_report::network::drawing;

/// The paper's measurements in ms: of FIFO and TDP, scenario by scenario, flow by flow.
const PAPER: [[[f64; 5]; 2]; 2] = [
    [[3.10, 1.97, 2.27, 2.27, 2.31], [0.18, 0.32, 0.34, 0.36, 0.44]],
    [[3.58, 4.54, 4.05, 5.10, 3.98], [0.15, 0.46, 0.40, 0.45, 0.42]],
];

/// All figures.
pub(super) fn all(measured: &Measurements, curves: &[Curve]) -> Part {
    let plans = SCENARIOS.map(|(_, text)| plan(text));
    let mut part = Part::default()
        .figure("figure-4", drawing::topology(network_plan(&plans[0])).svg())
        .figure("tables-1-2", jitter(measured, &plans[0]))
        .figure("blocking", blocking::figure(curves));
    for (number, plan) in (1..).zip(&plans) {
        if let Some(framed) = plan.framed_network() {
            let drawing = drawing::reservations(&Framing::new(framed)).svg();
            part = part.figure(format!("frames-{number}"), drawing);
        }
    }
    part
}

/// The largest jitter of each flow, the paper's and every seed's.
fn jitter(measured: &Measurements, plan: &Plan) -> String {
    let flows: Vec<&str> = plan.classes.iter().map(|class| class.name.as_str()).collect();
    let panel = |(at, (scenario, _)): (usize, &(&str, &str))| {
        let ours = |name: &str, subject, scheduler: &str| {
            let of = |flow: &&str| format!("{flow}, {scheduler}, {scenario}");
            let points = (1..).zip(&flows).flat_map(|(x, flow)| {
                let seeds = measured.values(JITTER, &of(flow));
                seeds.iter().map(move |jitter| (f64::from(x) + 0.08, jitter / 1e3))
            });
            series(name, Mark::Points, Style::new(subject), points)
        };
        let papers = |name: &str, subject, which: usize| {
            let points = (1..).zip(PAPER[at][which]);
            let points = points.map(|(x, ms)| (f64::from(x) - 0.08, ms / 1e3));
            series(name, Mark::Points, Style::new(subject), points)
        };
        let label = format!("Flow: {}", flows.join(", "));
        let x = within((0.5, 5.5), Axis::linear(&label, Unit::Count));
        let all = [
            papers("FIFO, the paper's PC routers", 4, 0),
            papers("TDP, the paper's PC routers", 1, 1),
            ours("FIFO, each seed", 0, "FIFO"),
            ours("TDP, each seed", 5, "TDP"),
        ];
        let two_frames = limit(Along::X, 0.5e-3, "two frames", "");
        let chart = chart(*scenario, x, Axis::log("Jitter", Unit::Time), all);
        Chart { markers: vec![two_frames], ..chart }
    };
    let panels: Vec<_> = SCENARIOS.iter().enumerate().map(panel).collect();
    chart::panels("Longest less shortest delay of every flow", &panels, 2)
}
