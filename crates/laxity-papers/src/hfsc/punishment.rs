//! Figure 3: a session that used what another left, when that one wakes.

use laxity::packet::ClassId;
use laxity::service::ServiceCurve;
use laxity::units::{Bytes, Nanos};
use laxity_plan::Plan;
use laxity_sim::error::SimError;

use super::plans::PUNISHMENT;
use super::service::{Services, asked, panel, sent};
use super::system::{Discipline, class};
use crate::claims::Measurements;
use crate::drawing::moment;
use crate::experiment::{self, Part, Runs};
use laxity_report::chart::{self, Chart};

const UNSERVED: &str = "session 1 without service after session 2 wakes (Fig. 3) [ms]";
const BEHIND: &str = "behind its curve at the worst (Fig. 3) [ms]";

const DISCIPLINES: [Discipline; 3] = [Discipline::Sced, Discipline::LinkSharing, Discipline::Hfsc];
/// When session 2 wakes.
const WAKES: Nanos = Nanos(100_000_000);

/// Number of runs.
pub(super) const RUNS: u64 = DISCIPLINES.len() as u64;

/// Repeats the example.
pub(super) fn repeat(runs: Runs<'_>, measured: &mut Measurements) -> Result<Part, SimError> {
    let plan = experiment::plan(PUNISHMENT);
    let sessions = ["session-1", "session-2"].map(|name| class(&plan, name));
    let curve =
        |id: ClassId| plan.classes[id.index()].curves.real_time.expect("sessions have curves");
    let curves = sessions.map(curve);
    let end = plan.run.duration.unwrap_or_default();
    let mut panels = Vec::new();
    let mut rows = Vec::new();
    for discipline in DISCIPLINES {
        let mut services = Services::simulate(&plan, discipline)?;
        services.packets.retain(|sent| sent.departure <= end);
        let name = discipline.name();
        let unserved = longest_pause(&services, sessions[0], &plan);
        let behind = [
            services.behind_ms(&sessions[..1], curves[0], Nanos::ZERO),
            services.behind_ms(&sessions[1..], curves[1], WAKES),
        ];
        measured.add(UNSERVED, name, unserved);
        measured.add(BEHIND, &format!("session 1, {name}"), behind[0].max(0.0));
        measured.add(BEHIND, &format!("session 2, {name}"), behind[1].max(0.0));
        rows.push(vec![
            name.to_string(),
            format!("{unserved:.2}"),
            format!("{:.2}", behind[0]),
            format!("{:.2}", behind[1]),
        ]);
        panels.push(services_of(name, &services, sessions, curves, end));
        (runs.step)();
    }
    let header =
        ["scheduler", "session 1 unserved", "session 1 behind its curve", "session 2 behind"];
    let figure = chart::panels("What session 1 gets when session 2 wakes: bytes sent", &panels, 3);
    Ok(Part::default().figure("figure-3", figure).table(
        "Figure 3: when session 2 wakes [ms]; below zero is early",
        &header,
        rows,
    ))
}

/// The longest time in ms after [`WAKES`] in which nothing of a backlogged class is being sent.
fn longest_pause(services: &Services, class: ClassId, plan: &Plan) -> f64 {
    let mut free_since = WAKES;
    let mut longest = Nanos::ZERO;
    for sent in services.packets_of(&[class]).filter(|sent| sent.departure > WAKES) {
        let start = sent.departure - plan.link.rate.time_for(Bytes(sent.length.into()));
        longest = longest.max(start.saturating_sub(free_since));
        free_since = sent.departure;
    }
    longest.as_millis_f64()
}

fn services_of(
    title: &str,
    services: &Services,
    sessions: [ClassId; 2],
    curves: [ServiceCurve; 2],
    end: Nanos,
) -> Chart {
    let series = vec![
        sent("session 1", 0, services.steps(&sessions[..1])),
        sent("session 2", 1, services.steps(&sessions[1..])),
        asked("session 1's curve", 0, curves[0], Nanos::ZERO, end),
        asked("session 2's curve", 1, curves[1], WAKES, end),
    ];
    let wakes = moment(WAKES, "session 2 wakes", "");
    Chart { markers: vec![wakes], ..panel(title, end, 250_000.0, series) }
}
