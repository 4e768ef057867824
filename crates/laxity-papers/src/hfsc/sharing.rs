//! Figure 12: who gets the bandwidth of a session that sleeps.

use laxity::packet::ClassId;
use laxity::units::{Nanos, Rate};
use laxity_plan::Plan;
use laxity_sim::error::SimError;
use laxity_sim::record::{Observer, Record};

use super::plans::LINK_SHARING;
use super::system::{Departure, Discipline, Switching, class, in_phase, simulate};
use crate::claims::Measurements;
use crate::drawing::{chart, moment, series, time, within};
use crate::experiment::{self, Part, Runs};
use laxity_report::chart::{self, Axis, Chart, Mark, Marker, Series, Style, Unit};

const BANDWIDTH: [&str; 2] = [
    "bandwidth while ON-OFF sleeps (Fig. 12) [kbit/s]",
    "bandwidth while all are active (Fig. 12) [kbit/s]",
];
const FARTHEST: &str = "farthest window from its share (Fig. 12) [packets]";

/// The sessions of the paper's figure.
const INSIDE: [&str; 4] = ["small", "middle", "large", "on-off"];
const OUTSIDE: [&str; 4] = ["first", "second", "third", "fourth"];

/// Over which time bandwidth is averaged, and for the session with the fewest packets.
const WINDOW: Nanos = Nanos(37_500_000);
const WINDOW_OF_SMALL: Nanos = Nanos(60_000_000);
/// The part of a run that the figure shows.
const SHOWN: (Nanos, Nanos) = (Nanos(2_000_000_000), Nanos(7_000_000_000));

/// Repeats the experiment.
pub(super) fn repeat(runs: Runs<'_>, measured: &mut Measurements) -> Result<Part, SimError> {
    let plan = experiment::plan(LINK_SHARING);
    let watch = |seed| {
        let plan = in_phase(&plan, seed);
        let mut watch = Watch::new(&plan, runs.duration);
        simulate(&plan, Discipline::Hfsc, runs.duration, &mut watch)?;
        Ok(watch)
    };
    let watches = runs.each(1..=runs.seeds, watch)?;
    for watch in &watches {
        let (inside, outside) = watch.sessions.split_at(INSIDE.len());
        for (all, sessions) in [("all inside", inside), ("all outside", outside)] {
            for session in sessions {
                let name = &plan.classes[session.class.index()].name;
                for (what, share) in BANDWIDTH.iter().zip(&session.shares) {
                    measured.add(what, name, share.mean_bps() / 1e3);
                }
                measured.add(FARTHEST, name, session.farthest());
            }
            let farthest = sessions.iter().map(Session::farthest).fold(0.0, f64::max);
            measured.add(FARTHEST, all, farthest);
        }
    }
    let first = watches.first();
    let header = ["session", "ON-OFF asleep / share", "all active / share", "farthest [packets]"];
    Ok(Part::default()
        .figure("figure-12", inside(&plan, first))
        .figure("figure-12-outside", outside(&plan, first))
        .table(
            "Figure 12: bandwidth [kbit/s], means of the seeds",
            &header,
            INSIDE.iter().chain(&OUTSIDE).map(|name| row(&plan, name, measured)),
        ))
}

/// The rates that a class is due while the ON-OFF source sleeps and while it is active: it leaves
/// its own to its siblings in proportion to theirs.
fn shares(plan: &Plan, id: ClassId) -> [Rate; 2] {
    let rates = plan.guaranteed_rates();
    let rate = |id: ClassId| rates[id.index()].0;
    let on_off = class(plan, "on-off");
    let parent = plan.classes[on_off.index()].parent.expect("the ON-OFF source has siblings");
    let asleep = match plan.classes[id.index()].parent {
        _ if id == on_off => 0,
        Some(own) if own == parent => rate(id) * rate(parent) / (rate(parent) - rate(on_off)),
        _ => rate(id),
    };
    [Rate(asleep), Rate(rate(id))]
}

/// Bandwidth of all sessions, window by window.
struct Watch {
    switching: Switching,
    end: Nanos,
    sessions: Vec<Session>,
}

struct Session {
    class: ClassId,
    window: Nanos,
    /// What departed in windows number `current`.
    current: u64,
    bytes: u64,
    /// While the ON-OFF source sleeps, and while it is active.
    shares: [Share; 2],
    /// Beginnings of windows in seconds and bits a second.
    shown: Vec<(f64, f64)>,
}

/// Windows in which a session was due a rate.
struct Share {
    due: Rate,
    windows: u64,
    bits: u64,
    time: Nanos,
    /// In packets.
    farthest: f64,
}

impl Watch {
    fn new(plan: &Plan, duration: Option<Nanos>) -> Watch {
        let session = |name: &str| {
            let class = class(plan, name);
            let share = |due| Share { due, windows: 0, bits: 0, time: Nanos::ZERO, farthest: 0.0 };
            Session {
                class,
                window: if name == "small" { WINDOW_OF_SMALL } else { WINDOW },
                current: 0,
                bytes: 0,
                shares: shares(plan, class).map(share),
                shown: Vec::new(),
            }
        };
        Watch {
            switching: Switching::new(plan),
            end: duration.or(plan.run.duration).unwrap_or_default(),
            sessions: INSIDE.iter().chain(&OUTSIDE).map(|name| session(name)).collect(),
        }
    }
}

impl Observer for Watch {
    fn record(&mut self, record: &Record) {
        let Some(sent) = Departure::from_record(record) else { return };
        for session in &mut self.sessions {
            session.close_windows(sent.departure.min(self.end), self.switching, sent.length);
            if session.class == sent.class {
                session.bytes += u64::from(sent.length);
            }
        }
    }
}

impl Session {
    /// In packets.
    fn farthest(&self) -> f64 {
        self.shares.iter().map(|share| share.farthest).fold(0.0, f64::max)
    }

    /// Judges all windows that are over at a time.
    fn close_windows(&mut self, now: Nanos, switching: Switching, packet: u32) {
        while Nanos((self.current + 1) * self.window.0) <= now {
            let from = Nanos(self.current * self.window.0);
            let bits = self.bytes * 8;
            if let Some(on) = settled(from, self.window, switching) {
                self.shares[usize::from(on)].add(bits, self.window, packet);
            }
            if (SHOWN.0..SHOWN.1).contains(&from) {
                self.shown.push((from.as_secs_f64(), bits as f64 / self.window.as_secs_f64()));
            }
            (self.current, self.bytes) = (self.current + 1, 0);
        }
    }
}

/// Whether the ON-OFF source is on throughout a window and the one before, or off throughout both;
/// `None` if it switches.
fn settled(from: Nanos, window: Nanos, switching: Switching) -> Option<bool> {
    let (on, since) = switching.at(from);
    let last = from + window.saturating_sub(Nanos(1));
    (since + window <= from && switching.at(last) == (on, since)).then_some(on)
}

impl Share {
    fn add(&mut self, bits: u64, window: Nanos, packet: u32) {
        let due = self.due.0 as f64 * window.as_secs_f64();
        let packets = (bits as f64 - due).abs() / (f64::from(packet) * 8.0);
        self.windows += 1;
        self.bits += bits;
        self.time += window;
        self.farthest = self.farthest.max(packets);
    }

    fn mean_bps(&self) -> f64 {
        self.bits as f64 / self.time.as_secs_f64()
    }
}

fn row(plan: &Plan, name: &str, measured: &Measurements) -> Vec<String> {
    let due = shares(plan, class(plan, name));
    let cell = |at: usize| {
        let mean = measured.mean(BANDWIDTH[at], name);
        format!("{mean:.1} / {:.0}", due[at].0 as f64 / 1e3)
    };
    let farthest = measured.largest(FARTHEST, name);
    vec![name.to_string(), cell(0), cell(1), format!("{farthest:.2}")]
}

/// All sessions of the class in one chart.
fn inside(plan: &Plan, watch: Option<&Watch>) -> String {
    let lines = INSIDE.iter().enumerate().map(|(at, name)| line(plan, watch, name, at));
    let (x, y) = (time("Time", SHOWN.0, SHOWN.1), Axis::linear("Bandwidth", Unit::Rate));
    let chart = chart("Bandwidth of the four sessions of one class", x, y, lines);
    Chart { markers: switches(watch), ..chart }.svg()
}

/// A panel for each of the others, for their lines would cover each other.
fn outside(plan: &Plan, watch: Option<&Watch>) -> String {
    let panel = |(at, name): (usize, &&str)| {
        let line = Series { name: String::new(), ..line(plan, watch, name, at) };
        let y = within((0.0, 2e6), Axis::linear("", Unit::Rate));
        let chart = chart(*name, time("", SHOWN.0, SHOWN.1), y, [line]);
        Chart { markers: switches(watch), ..chart }
    };
    let panels: Vec<_> = OUTSIDE.iter().enumerate().map(panel).collect();
    chart::panels("Bandwidth of the sessions of 1.5 Mbit/s outside", &panels, 2)
}

fn line(plan: &Plan, watch: Option<&Watch>, name: &str, subject: usize) -> Series {
    let id = class(plan, name);
    let mut sessions = watch.iter().flat_map(|watch| &watch.sessions);
    let session = sessions.find(|session| session.class == id);
    let name = format!("{name}, {}", laxity_report::quantity::rate(shares(plan, id)[1].0 as f64));
    let points = session.map(|session| session.shown.clone()).unwrap_or_default();
    series(name, Mark::Step, Style::new(subject), points)
}

fn switches(watch: Option<&Watch>) -> Vec<Marker> {
    let times = watch.map(|watch| watch.switching.switches(SHOWN.0, SHOWN.1));
    let marker = |(at, on)| moment(at, if on { "wakes" } else { "sleeps" }, "on-off switches");
    times.into_iter().flatten().map(marker).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn what_on_off_leaves_is_its_siblings_in_proportion() {
        let plan = experiment::plan(LINK_SHARING);
        let due = |name: &str| shares(&plan, class(&plan, name)).map(|rate| rate.0 / 1000);
        assert_eq!(due("small"), [160, 80]);
        assert_eq!(due("large"), [2880, 1440]);
        assert_eq!(due("on-off"), [0, 2000]);
        assert_eq!(due("first"), [1500, 1500]);
    }

    #[test]
    fn windows_near_a_switch_are_not_judged() {
        let plan = experiment::plan(LINK_SHARING);
        let switching = Switching::new(&plan);
        let judged = |ms: u64| settled(Nanos(ms * MS), Nanos(30 * MS), switching);
        assert_eq!([judged(0), judged(29), judged(30)], [None, None, Some(true)]);
        assert_eq!([judged(970), judged(971), judged(1029)], [Some(true), None, None]);
        assert_eq!([judged(1030), judged(1970), judged(1971)], [Some(false), Some(false), None]);
    }

    #[test]
    fn a_window_is_as_far_from_its_share_as_its_packets() {
        let plan = experiment::plan(LINK_SHARING);
        let mut watch = Watch::new(&plan, Some(Nanos(200 * MS)));
        let first = class(&plan, "first");
        // Of 512 B, one every 2 ms from 1 ms on, up to 3 s: 19, 18, 19, 19 in windows of 37.5 ms.
        for n in 0..1_500 {
            let departure = Nanos((2 * n + 1) * MS);
            let packet = laxity::packet::Packet { class: first, length: 512, ..Default::default() };
            let fate = laxity_sim::record::Fate::Sent { start: departure, departure };
            let set_out = packet.arrival;
            watch.record(&Record { packet, set_out, hop: None, deadline: None, fate });
        }
        let session = watch.sessions.iter().find(|session| session.class == first).unwrap();
        // The first of the five windows before the end begins too early.
        let judged = &session.shares[1];
        assert_eq!((judged.windows, judged.bits), (4, (18 + 19 + 19 + 19) * 4096));
        assert!((session.farthest() - (19.0 - 1.5e6 * 0.0375 / 4096.0)).abs() < 1e-9);
    }
}
