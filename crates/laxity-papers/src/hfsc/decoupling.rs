//! Figure 2: a session's delay, coupled to its rate by lines and set free by curves.

use laxity::curve::exact;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_report::chart::{self, Chart, Dash, Mark, Style};
use laxity_sim::error::SimError;
use num_traits::ToPrimitive;

use super::plans::DECOUPLING;
use super::service::{Services, panel, sent};
use super::system::{Departure, Discipline, class, in_phase, linear};
use crate::claims::Measurements;
use crate::drawing::series;
use crate::experiment::{self, Part, Runs};

/// As the paper draws it, both sessions begin at once.
const DRAWN: &str = "largest delay of video, as drawn (Fig. 2) [ms]";
const ANY_PHASE: &str = "largest delay of video, any phase (Fig. 2) [ms]";
/// Phases per seed: within a run the phase stays the same.
const PHASES: u64 = 20;

/// The figure shows four frames and a half.
const SHOWN: Nanos = Nanos(147_456_000);

const CASES: [(&str, Discipline, bool); 5] = [
    ("SCED, lines", Discipline::Sced, true),
    ("SCED, curves", Discipline::Sced, false),
    ("H-FSC, lines", Discipline::Hfsc, true),
    ("H-FSC, curves", Discipline::Hfsc, false),
    ("H-WF2Q+", Discipline::Wf2q, true),
];

/// Number of steps.
pub(super) const RUNS: u64 = CASES.len() as u64;

/// Repeats the example.
pub(super) fn repeat(runs: Runs<'_>, measured: &mut Measurements) -> Result<Part, SimError> {
    let curves = experiment::plan(DECOUPLING);
    let lines = linear(&curves);
    let mut panels = Vec::new();
    let mut rows = Vec::new();
    for (name, discipline, linear) in CASES {
        let plan = if linear { &lines } else { &curves };
        let drawn = Services::simulate(plan, discipline)?;
        measured.add(DRAWN, name, largest_delay(plan, &drawn));
        for seed in 1..=runs.seeds {
            let mut largest = f64::NEG_INFINITY;
            for phase in 0..PHASES {
                let plan = in_phase(plan, seed * PHASES + phase);
                let services = Services::simulate(&plan, discipline)?;
                largest = largest.max(largest_delay(&plan, &services));
            }
            measured.add(ANY_PHASE, name, largest);
        }
        rows.push(vec![
            name.to_string(),
            format!("{:.2}", measured.mean(DRAWN, name)),
            format!("{:.2}", measured.largest(ANY_PHASE, name)),
        ]);
        if discipline != Discipline::Wf2q {
            panels.push(frames(name, plan, &drawn));
        }
        (runs.step)();
    }
    let figure = chart::panels("Video beside a transfer: bytes over time", &panels, 2);
    let header = ["scheduler", "as drawn", "any phase"];
    Ok(Part::default().figure("figure-2", figure).table(
        "Figure 2: largest delay of video [ms]",
        &header,
        rows,
    ))
}

fn largest_delay(plan: &Plan, services: &Services) -> f64 {
    let video = [class(plan, "video")];
    services.packets_of(&video).map(Departure::delay_ms).fold(f64::NEG_INFINITY, f64::max)
}

/// Arrivals, deadlines and departures of video's frames.
fn frames(title: &str, plan: &Plan, services: &Services) -> Chart {
    let video = class(plan, "video");
    let curve = plan.classes[video.index()].curves.real_time.expect("video has a curve").curve();
    let mut arrived = 0;
    let (mut coming, mut due) = (vec![], vec![]);
    for frame in services.packets_of(&[video]) {
        let (at, bytes) = (frame.arrival.as_secs_f64(), u64::from(frame.length));
        let within = curve
            .lower_pseudo_inverse(&exact(bytes))
            .and_then(|ns| ns.to_f64())
            .unwrap_or(f64::NAN);
        due.extend([(at, arrived as f64), (at + within / 1e9, (arrived + bytes) as f64)]);
        arrived += bytes;
        coming.push((frame.arrival, arrived));
    }
    let series = vec![
        sent("arrived", 2, coming),
        series("due", Mark::Line, Style::new(1).dashed(Dash::Dashed), due),
        sent("sent", 0, services.steps(&[video])),
    ];
    panel(title, SHOWN, plan.link.max_packet.0 as f64 * 5.0, series)
}
