//! Figure 4: curves that no discipline can keep all at once.

use laxity::packet::ClassId;
use laxity::service::ServiceCurve;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_sim::error::SimError;

use super::plans::CONFLICT;
use super::service::{Services, asked, panel, sent};
use super::system::{Discipline, class};
use crate::claims::Measurements;
use crate::drawing::moment;
use crate::experiment::{self, Part, Runs};
use laxity_report::chart::{self, Chart};

const BEHIND: &str = "behind its curve at the worst (Fig. 4) [ms]";

const DISCIPLINES: [Discipline; 2] = [Discipline::LinkSharing, Discipline::Hfsc];
/// When session 1 wakes; the others are backlogged from the beginning.
const WAKES: Nanos = Nanos(100_000_000);
const SESSIONS: [&str; 4] = ["session-1", "session-2", "session-3", "session-4"];
const CLASSES: [&str; 2] = ["A", "B"];

/// Number of runs.
pub(super) const RUNS: u64 = DISCIPLINES.len() as u64;

/// Repeats the example.
pub(super) fn repeat(runs: Runs<'_>, measured: &mut Measurements) -> Result<Part, SimError> {
    let plan = experiment::plan(CONFLICT);
    let end = plan.run.duration.unwrap_or_default();
    let names = SESSIONS.iter().chain(&CLASSES);
    let subjects: Vec<_> = names.map(|name| Subject::new(&plan, name)).collect();
    let mut rows: Vec<_> = subjects.iter().map(|subject| vec![subject.name.to_string()]).collect();
    let mut panels = Vec::new();
    for discipline in DISCIPLINES {
        let mut services = Services::simulate(&plan, discipline)?;
        services.packets.retain(|sent| sent.departure <= end);
        let mut lags = Vec::new();
        for (subject, row) in subjects.iter().zip(&mut rows) {
            let behind = services.behind_ms(&subject.leaves, subject.curve, subject.from);
            row.push(format!("{behind:.2}"));
            lags.push((subject.name, behind.max(0.0)));
        }
        let (sessions, classes) = lags.split_at(SESSIONS.len());
        for (all, lags) in [("all sessions", sessions), ("both classes", classes)] {
            let worst = lags.iter().map(|(_, lag)| *lag).fold(0.0, f64::max);
            measured.add(BEHIND, &format!("{all}, {}", discipline.name()), worst);
            for (name, lag) in lags {
                measured.add(BEHIND, &format!("{name}, {}", discipline.name()), *lag);
            }
        }
        panels.push(services_of(discipline.name(), &services, &subjects, end));
        (runs.step)();
    }
    let header = ["class"].into_iter().chain(DISCIPLINES.map(Discipline::name));
    let header: Vec<_> = header.collect();
    let figure = chart::panels("Two classes and a session of the first: bytes sent", &panels, 2);
    Ok(Part::default().figure("figure-4", figure).table(
        "Figure 4: behind its curve at the worst [ms]; below zero is early",
        &header,
        rows,
    ))
}

/// A session or a class, when it wakes and what it is due from then on.
struct Subject {
    name: &'static str,
    leaves: Vec<ClassId>,
    curve: ServiceCurve,
    from: Nanos,
}

impl Subject {
    fn new(plan: &Plan, name: &'static str) -> Subject {
        let id = class(plan, name);
        let class = &plan.classes[id.index()];
        let leaves = if class.is_leaf() { vec![id] } else { class.children.clone() };
        let curve = class.curves.link_share.expect("every class here has a curve");
        let from = if name == "session-1" { WAKES } else { Nanos::ZERO };
        Subject { name, leaves, curve, from }
    }
}

fn services_of(title: &str, services: &Services, subjects: &[Subject], end: Nanos) -> Chart {
    let drawn = ["session-1", "A", "B"];
    let shown = drawn.iter().enumerate().flat_map(|(at, name)| {
        let subject = subjects.iter().find(|subject| subject.name == *name);
        subject.map(|subject| (at, subject))
    });
    let series = shown.flat_map(|(at, subject)| {
        let Subject { name, leaves, curve, from } = subject;
        [
            sent(name, at, services.steps(leaves)),
            asked(&format!("{name}'s curve"), at, *curve, *from, end),
        ]
    });
    let wakes = moment(WAKES, "session-1 wakes", "");
    Chart { markers: vec![wakes], ..panel(title, end, 175_000.0, series.collect()) }
}
