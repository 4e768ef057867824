//! Figure 2: a session's delay, coupled to its rate by lines and set free by curves.

use laxity::curve::exact;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_sim::error::SimError;
use num_traits::ToPrimitive;

use super::plans::{DECOUPLING, read};
use super::service::{Services, panel, sent};
use super::system::{Discipline, Sent, class, in_phase, linear, simulate};
use crate::claims::Measured;
use crate::experiment::{Part, Step};
use laxity_report::chart::{self, Dash, Mark, Style};
use laxity_report::table;

/// As the paper draws it, both sessions begin at once.
const DRAWN: &str = "largest delay of video, as drawn (Fig. 2) [ms]";
const ANY_PHASE: &str = "largest delay of video, any phase (Fig. 2) [ms]";
/// How many phases a seed draws: within a run the phase stays the same.
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

/// How many runs there are.
pub(super) fn runs() -> u64 {
    CASES.len() as u64
}

/// Repeats the example.
pub(super) fn repeat(
    seeds: u64,
    step: Step<'_>,
    measured: &mut Measured,
) -> Result<Part, SimError> {
    let curves = read(DECOUPLING);
    let lines = linear(&curves);
    let mut panels = Vec::new();
    let mut rows = Vec::new();
    for (name, discipline, linear) in CASES {
        let plan = if linear { &lines } else { &curves };
        let drawn = watch(plan, discipline)?;
        measured.add(DRAWN, name, largest_delay(plan, &drawn));
        for seed in 1..=seeds {
            let mut largest = f64::NEG_INFINITY;
            for phase in 0..PHASES {
                let plan = in_phase(plan, seed * PHASES + phase);
                largest = largest.max(largest_delay(&plan, &watch(&plan, discipline)?));
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
        step();
    }
    let header = ["scheduler", "as drawn", "any phase"];
    Ok(Part {
        figures: vec![(
            "figure-2".to_string(),
            chart::panels("Video beside a transfer: bytes over time", &panels, 2),
        )],
        tables: vec![(
            "Figure 2: largest delay of video [ms]".to_string(),
            table::table(&header, &rows),
        )],
    })
}

fn watch(plan: &Plan, discipline: Discipline) -> Result<Services, SimError> {
    let mut services = Services::default();
    simulate(plan, discipline, None, &mut services)?;
    Ok(services)
}

fn largest_delay(plan: &Plan, services: &Services) -> f64 {
    let video = [class(plan, "video")];
    services.of(&video).map(Sent::delay_ms).fold(f64::NEG_INFINITY, f64::max)
}

/// Video's frames as they come, are due and leave.
fn frames(title: &str, plan: &Plan, services: &Services) -> chart::Chart {
    let video = class(plan, "video");
    let curve = plan.classes[video.index()].curves.real_time.expect("video has a curve").curve();
    let mut arrived = 0;
    let (mut coming, mut due) = (vec![], vec![]);
    for frame in services.of(&[video]) {
        let (at, bytes) = (frame.arrival.as_secs_f64(), u64::from(frame.length));
        let within = curve
            .lower_pseudo_inverse(&exact(bytes))
            .and_then(|ns| ns.to_f64())
            .unwrap_or(f64::NAN);
        due.extend([(at, arrived as f64), (at + within / 1e9, (arrived + bytes) as f64)]);
        arrived += bytes;
        coming.push((frame.arrival, arrived));
    }
    let due = chart::Series {
        name: "due".to_string(),
        mark: Mark::Line,
        style: Style::new(1).dashed(Dash::Dashed),
        points: due,
    };
    let series = vec![
        sent("arrived", 2, coming.into_iter()),
        due,
        sent("sent", 0, services.steps(&[video])),
    ];
    let shown = plan.link.max_packet.0 as f64 * 5.0;
    panel(title, SHOWN, shown, series)
}
