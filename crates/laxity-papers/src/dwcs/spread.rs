//! Figure 3: whose losses come in runs.

use laxity::packet::FlowId;
use laxity::units::Nanos;
use laxity_plan::model::{QueueLimit, QueueSpec, SchedulerSpec};
use laxity_sim::error::SimError;
use laxity_sim::link::Run;
use laxity_sim::record::{Fate, Observer, Record};
use laxity_sim::summary::WindowSummary;

use crate::claims::Measurements;
use crate::drawing::{chart, series};
use crate::experiment::{self, Part, Runs};
use laxity_report::chart::{Axis, Mark, Style, Unit};
use laxity_report::quantity;

const LONGEST: &str = "longest run of losses, tolerance 1/3 (Fig. 3) [packets]";
const LOST: &str = "lost, tolerance 1/3 (Fig. 3) [% of the packets]";
const VIOLATED: &str = "windows violated, tolerance 1/3 (Fig. 3) [% of the windows]";

const PLAN: &str = include_str!("../../../../papers/dwcs/spread.toml");
/// Room of the queue under FIFO, in packets: packets beyond it would be late anyway.
const ROOM: u64 = 24;
/// Packets of a stream that the figure shows, and those before them.
const SHOWN: usize = 480;
const SKIPPED: usize = 120;
const SCHEDULERS: [&str; 2] = ["FIFO", "DWCS"];

/// Number of runs per seed.
pub(super) const RUNS: u64 = SCHEDULERS.len() as u64;

/// Repeats the experiment.
pub(super) fn repeat(runs: Runs<'_>, measured: &mut Measurements) -> Result<Part, SimError> {
    let jobs: Vec<_> = (1..=runs.seeds).flat_map(|seed| SCHEDULERS.map(|s| (s, seed))).collect();
    let run = |(scheduler, seed)| Watch::run(scheduler, seed);
    let watches = runs.each(jobs, run)?;
    let mut both = watches.chunks(SCHEDULERS.len());
    for watches in both.clone() {
        for (scheduler, Watch { windows, .. }) in SCHEDULERS.iter().zip(watches) {
            let percent = |part: u64, of: u64| part as f64 / of as f64 * 100.0;
            measured.add(LONGEST, scheduler, windows.longest_run as f64);
            measured.add(LOST, scheduler, percent(windows.lost, windows.packets));
            measured.add(VIOLATED, scheduler, percent(windows.violations, windows.windows));
        }
    }
    let row = |(scheduler, watch): (&&str, &Watch)| {
        let WindowSummary { packets, lost, windows, violations, longest_run, .. } = &watch.windows;
        let counts = [packets, lost, windows, violations, longest_run];
        let counts = counts.into_iter().map(|count| quantity::count(*count));
        [scheduler.to_string()].into_iter().chain(counts).collect()
    };
    let first = both.next().unwrap_or_default();
    Ok(Part::default().figure("figure-3", figure(first)).table(
        "Figure 3: first seed",
        &["", "packets", "lost", "windows", "violated", "longest run"],
        SCHEDULERS.iter().zip(first).map(row),
    ))
}

/// Losses of all streams together, and of the first packet by packet.
struct Watch {
    windows: WindowSummary,
    /// Whether each packet of the first stream was lost.
    lost: Vec<bool>,
}

impl Watch {
    fn run(scheduler: &str, seed: u64) -> Result<Watch, SimError> {
        let mut plan = experiment::plan(PLAN);
        if scheduler == "FIFO" {
            plan.scheduler = SchedulerSpec::Fifo;
            plan.classes[0].queue = Some(Box::new(QueueSpec::limited(QueueLimit::Packets(ROOM))));
        }
        let run = Run { plan: &plan, duration: plan.run.duration, seed, feeds: vec![] };
        let mut first = FirstStream::default();
        let summary =
            run.with_sources()?.simulate(&mut first, &mut laxity_sim::to_the_end)?.summary;
        let windows =
            summary.hops[0].classes[0].windows.clone().expect("the class tolerates losses");
        let gap = plan.classes[0].gap.expect("the class has deadlines");
        Ok(Watch { windows: *windows, lost: first.lost(gap) })
    }
}

/// The packets of the first stream: number, arrival, and begin of transmission if sent.
#[derive(Default)]
struct FirstStream(Vec<(u64, Nanos, Option<Nanos>)>);

impl Observer for FirstStream {
    fn record(&mut self, record: &Record) {
        let packet = record.packet;
        if packet.flow == FlowId(0) {
            let begun = match record.fate {
                Fate::Sent { start, .. } => Some(start),
                Fate::Dropped(_) | Fate::Queued => None,
            };
            self.0.push((packet.handle, packet.arrival, begun));
        }
    }
}

impl FirstStream {
    /// Which were dropped or begun after their deadline: a gap after that of the packet before, or
    /// after their arrival.
    fn lost(mut self, gap: Nanos) -> Vec<bool> {
        self.0.sort_unstable();
        let mut due = Nanos::ZERO;
        let lost = self.0.into_iter().map(|(_, arrival, begun)| {
            due = due.max(arrival) + gap;
            let late = begun.map(|begun| begun.saturating_sub(due));
            due += Nanos(late.unwrap_or(Nanos::ZERO).0.div_ceil(gap.0) * gap.0);
            late != Some(Nanos::ZERO)
        });
        lost.collect()
    }
}

/// At every lost packet, the length of the run of losses up to it.
fn figure(watches: &[Watch]) -> String {
    let sticks = SCHEDULERS.iter().zip(watches).enumerate().map(|(at, (scheduler, watch))| {
        let mut run = 0;
        let shown = watch.lost.iter().skip(SKIPPED).take(SHOWN).enumerate();
        let points = shown.filter_map(|(packet, lost)| {
            run = if *lost { run + 1 } else { 0 };
            lost.then_some((packet as f64 + 1.0, f64::from(run)))
        });
        series(*scheduler, Mark::Sticks, Style::new(at), points)
    });
    let x = Axis::linear("Packet of the stream", Unit::Count);
    let y = Axis::linear("", Unit::Count);
    chart("Consecutive losses of a stream that bears one of three", x, y, sticks).svg()
}
