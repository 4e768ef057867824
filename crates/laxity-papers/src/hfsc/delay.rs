//! Figures 10 and 11: delay of audio and video over time.

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_sim::error::SimError;
use laxity_sim::record::{Observer, Record};

use super::plans::DELAY;
use super::system::{Departure, Discipline, Switching, class, in_phase, simulate};
use crate::claims::Measurements;
use crate::drawing::{chart, limit, moment, series, time, within};
use crate::experiment::{self, Part, Runs};
use laxity_report::chart::{self, Along, Axis, Chart, Mark, Style, Unit};

const LARGEST: &str = "largest delay (Fig. 11) [ms]";
const MEAN: &str = "mean delay (Fig. 11) [ms]";
const SWING: &str = "mean delay with ON-OFF on in % of that with it off (Fig. 11)";

const DISCIPLINES: [Discipline; 2] = [Discipline::Wf2q, Discipline::Hfsc];
const SESSIONS: [(&str, Nanos); 2] = [("audio", Nanos(5_000_000)), ("video", Nanos(10_000_000))];
/// The part of a run that the figure shows.
const SHOWN: (Nanos, Nanos) = (Nanos(2_000_000_000), Nanos(10_000_000_000));

/// Number of runs per seed.
pub(super) const RUNS: u64 = DISCIPLINES.len() as u64;

/// Repeats the experiment.
pub(super) fn repeat(runs: Runs<'_>, measured: &mut Measurements) -> Result<Part, SimError> {
    let plan = experiment::plan(DELAY);
    let jobs: Vec<_> = (1..=runs.seeds).flat_map(|seed| DISCIPLINES.map(|d| (seed, d))).collect();
    let watch = |(seed, discipline)| {
        let plan = in_phase(&plan, seed);
        let mut watch = Watch::new(&plan);
        simulate(&plan, discipline, runs.duration, &mut watch)?;
        Ok(watch)
    };
    let watches = runs.each(jobs, watch)?;
    for both in watches.chunks(DISCIPLINES.len()) {
        for (at, (session, _)) in SESSIONS.iter().enumerate() {
            for (discipline, watch) in DISCIPLINES.iter().zip(both) {
                let of = format!("{session}, {}", discipline.name());
                let delays = &watch.sessions[at].by_state;
                measured.add(LARGEST, &of, delays[0].largest.max(delays[1].largest));
                measured.add(SWING, &of, delays[1].mean() / delays[0].mean() * 100.0);
                for (state, delays) in ["off", "on"].iter().zip(delays) {
                    measured.add(MEAN, &format!("{of}, {state}"), delays.mean());
                    measured.add(LARGEST, &format!("{of}, {state}"), delays.largest);
                }
            }
        }
    }
    let first = watches.chunks(DISCIPLINES.len()).next().unwrap_or_default();
    Ok(Part::default().figure("figure-11", figure(first)).table(
        "Figure 11: delay with ON-OFF off / on [ms], means and largest of the seeds",
        &["session", "scheduler", "mean", "largest"],
        rows(measured),
    ))
}

/// Delays of a class.
#[derive(Clone, Copy, Debug, Default)]
struct Delays {
    packets: u64,
    sum: f64,
    largest: f64,
}

impl Delays {
    fn add(&mut self, ms: f64) {
        self.packets += 1;
        self.sum += ms;
        self.largest = self.largest.max(ms);
    }

    fn mean(&self) -> f64 {
        self.sum / self.packets as f64
    }
}

/// Delays of audio's and video's packets.
struct Watch {
    switching: Switching,
    sessions: [Session; SESSIONS.len()],
}

struct Session {
    class: ClassId,
    /// Of packets that came while the ON-OFF source was off, and while it was on.
    by_state: [Delays; 2],
    /// Departures and delays in seconds, of the part that is shown.
    shown: Vec<(f64, f64)>,
}

impl Watch {
    fn new(plan: &Plan) -> Watch {
        let session = |(name, _)| Session {
            class: class(plan, name),
            by_state: Default::default(),
            shown: Vec::new(),
        };
        Watch { switching: Switching::new(plan), sessions: SESSIONS.map(session) }
    }
}

impl Observer for Watch {
    fn record(&mut self, record: &Record) {
        let Some(sent) = Departure::from_record(record) else { return };
        let Some(session) = self.sessions.iter_mut().find(|session| session.class == sent.class)
        else {
            return;
        };
        let (on, _) = self.switching.at(sent.arrival);
        session.by_state[usize::from(on)].add(sent.delay_ms());
        if (SHOWN.0..SHOWN.1).contains(&sent.departure) {
            session.shown.push((sent.departure.as_secs_f64(), sent.delay_ms() / 1e3));
        }
    }
}

fn rows(measured: &Measurements) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (session, _) in SESSIONS {
        for discipline in DISCIPLINES {
            let of = format!("{session}, {}", discipline.name());
            let both = |value: &dyn Fn(&str) -> f64| {
                format!("{:.2} / {:.2}", value(&format!("{of}, off")), value(&format!("{of}, on")))
            };
            rows.push(vec![
                session.to_string(),
                discipline.name().to_string(),
                both(&|of| measured.mean(MEAN, of)),
                both(&|of| measured.largest(LARGEST, of)),
            ]);
        }
    }
    rows
}

/// A panel for each session and discipline, the target and the switches of ON-OFF marked.
fn figure(watches: &[Watch]) -> String {
    let switching = watches.first().map(|watch| watch.switching);
    let switches = switching.map_or(vec![], |switching| switching.switches(SHOWN.0, SHOWN.1));
    let mut panels = Vec::new();
    for (at, (name, target)) in SESSIONS.iter().enumerate() {
        let highest = watches.iter().flat_map(|watch| &watch.sessions[at].shown);
        let highest = highest.map(|(_, delay)| *delay).fold(0.0, f64::max);
        for (discipline, watch) in DISCIPLINES.iter().zip(watches) {
            let delays = series("", Mark::Sticks, Style::new(at), watch.sessions[at].shown.clone());
            let switch = |&(at, on): &(Nanos, bool)| {
                moment(at, if on { "on" } else { "off" }, "ON-OFF switches")
            };
            let target = limit(Along::X, target.as_secs_f64(), "", "target");
            let y = within((0.0, highest * 1.08), Axis::linear("", Unit::Time));
            let title = format!("{name}, {}", discipline.name());
            panels.push(Chart {
                markers: switches.iter().map(switch).chain([target]).collect(),
                ..chart(title, time("", SHOWN.0, SHOWN.1), y, [delays])
            });
        }
    }
    chart::panels("Delay of audio and video beside an ON-OFF source", &panels, 2)
}
