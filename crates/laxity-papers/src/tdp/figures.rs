//! The testbed, its frames, and the tables as figures.

use laxity_plan::Plan;
use laxity_plan::tdp::Framing;

use super::blocking::{self, Curve};
use super::measures::JITTER;
use super::plans::{SCENARIOS, networked, plan};
use crate::claims::Measured;
use laxity_report::chart::{self, Along, Axis, Chart, Dash, Mark, Marker, Series, Style, Unit};
use laxity_report::network::drawing;

/// What the paper measured, in ms: FIFO and TDP, scenario by scenario, flow by flow.
const PAPER: [[[f64; 5]; 2]; 2] = [
    [[3.10, 1.97, 2.27, 2.27, 2.31], [0.18, 0.32, 0.34, 0.36, 0.44]],
    [[3.58, 4.54, 4.05, 5.10, 3.98], [0.15, 0.46, 0.40, 0.45, 0.42]],
];

/// All figures, by name.
pub(super) fn all(measured: &Measured, curves: &[Curve]) -> Vec<(String, String)> {
    let plans = SCENARIOS.map(|(_, text)| plan(text));
    let mut figures = vec![
        ("figure-4".to_string(), drawing::topology(networked(&plans[0])).svg()),
        ("tables-1-2".to_string(), jitter(measured, &plans[0])),
        ("blocking".to_string(), blocking::figure(curves)),
    ];
    for (number, plan) in (1..).zip(&plans) {
        if let Some(framed) = plan.framed() {
            let drawing = drawing::reservations(&Framing::of(framed)).svg();
            figures.push((format!("frames-{number}"), drawing));
        }
    }
    figures
}

/// The largest jitter of each flow, the paper's and every seed's.
fn jitter(measured: &Measured, plan: &Plan) -> String {
    let flows: Vec<&str> = plan.classes.iter().map(|class| class.name.as_str()).collect();
    let panel = |(at, (scenario, _)): (usize, &(&str, &str))| {
        let ours = |name: &str, subject, scheduler: &str| {
            let of = |flow: &&str| format!("{flow}, {scheduler}, {scenario}");
            let points = (1..).zip(&flows).flat_map(|(x, flow)| {
                let seeds = measured.of(JITTER, &of(flow));
                seeds.iter().map(move |jitter| (f64::from(x) + 0.08, jitter / 1e3))
            });
            Series {
                name: name.to_owned(),
                mark: Mark::Points,
                style: Style::new(subject),
                points: points.collect(),
            }
        };
        let papers = |name: &str, subject, which: usize| Series {
            name: name.to_owned(),
            mark: Mark::Points,
            style: Style::new(subject),
            points: (1..)
                .zip(PAPER[at][which])
                .map(|(x, ms)| (f64::from(x) - 0.08, ms / 1e3))
                .collect(),
        };
        let two_frames = Marker {
            along: Along::X,
            at: 0.5e-3,
            label: "two frames".to_owned(),
            meaning: String::new(),
            style: Style::default().dashed(Dash::Dashed),
        };
        Chart {
            title: (*scenario).to_owned(),
            x: Axis {
                range: Some((0.5, 5.5)),
                ..Axis::linear(&format!("Flow: {}", flows.join(", ")), Unit::Count)
            },
            y: Axis::log("Jitter", Unit::Time),
            series: vec![
                papers("FIFO, the paper's PC routers", 4, 0),
                papers("TDP, the paper's PC routers", 1, 1),
                ours("FIFO, each seed", 0, "FIFO"),
                ours("TDP, each seed", 5, "TDP"),
            ],
            markers: vec![two_frames],
        }
    };
    let panels: Vec<_> = SCENARIOS.iter().enumerate().map(panel).collect();
    chart::panels("Longest less shortest delay of every flow", &panels, 2)
}
