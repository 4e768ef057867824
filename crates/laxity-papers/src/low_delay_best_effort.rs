//! The experiment of Chakraborty, Gries and Thiele (2002): Tables 1 and 2, Figures 4, 5 and 8.

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_sim::error::SimError;
use laxity_sim::link::Run;
use laxity_sim::record::{Fate, Observer, Record};
use laxity_sim::summary::Summary;

use crate::claims::Measurements;
use crate::experiment::{self, Part, Repetition, Runs, Settings};
use laxity_report::admission::curves::curves;
use laxity_report::admission::edf;
use laxity_report::figures::{PacketDelays, packet_delays};

const PLAN: &str = include_str!("../../../papers/low-delay-best-effort/plan.toml");
const CLAIMS: &str = include_str!("../../../papers/low-delay-best-effort/claims.toml");

const STANDARD_MEAN: &str = "mean delay, standard scheme (Table 2) [ms]";
const STANDARD_LARGEST: &str = "largest delay, standard scheme (Table 1) [ms]";
const OF_STANDARD: &str = "mean delay in % of the standard scheme (Table 2)";
const OF_TWO_LINES: &str = "mean delay in % of that of two lines";
const MISSES: &str = "real-time deadlines missed";
/// Delays of a class under a scheduler, for the tables.
const MEAN: &str = "mean delay [ns]";
const LARGEST: &str = "largest delay [ns]";

const STANDARD: &str = "edf/background";
const TWO_LINES: &str = "edf/two-line";
const BEST_EFFORT: [&str; 3] = ["ftp", "http", "mail"];

/// The paper's three columns, two that it could have had, and Algorithm 3.
const SCHEDULERS: [&str; 5] =
    [STANDARD, "edf/shifted-line", TWO_LINES, "edf/two-line-fast", "edf/exact"];
/// Their names in the paper's tables.
const COLUMNS: [&str; 5] = ["standard", "shifted line", "two lines", "Algorithm 3", "exact"];

/// The paper's traces show one real-time and one best-effort flow.
const TRACED: [&str; 2] = ["video", "ftp"];
/// Begin and length of Figures 4 and 5.
const TRACE_START: Nanos = Nanos(10_000_000_000);
const FIGURE_4: Nanos = Nanos(10_000_000_000);
const FIGURE_5: Nanos = Nanos(500_000_000);

/// Repeats the experiment.
pub(crate) fn repeat(settings: &Settings<'_>) -> Result<Repetition, SimError> {
    let plan = experiment::plan(PLAN);
    let duration = settings.duration.or(plan.run.duration);
    let jobs: Vec<_> = SCHEDULERS
        .iter()
        .flat_map(|&scheduler| (1..=settings.seeds).map(move |seed| (scheduler, seed)))
        .collect();
    let all = jobs.len() as u64;
    let runs = Runs { seeds: settings.seeds, duration, step: &|| (settings.progress)(all) };
    let run =
        |(scheduler, seed)| Ok((scheduler, simulate(&plan, scheduler, seed, duration, &mut ())?));
    let mut measured = Measurements::default();
    for (scheduler, summary) in runs.each(jobs, run)? {
        measure(&mut measured, scheduler, &summary);
    }
    for scheduler in SCHEDULERS {
        compare(&mut measured, scheduler);
    }
    let part = delays(figures(&plan)?, "Table 1: largest delay [ms]", &plan, &measured, LARGEST);
    let part = delays(part, "Table 2: mean delay [ms]", &plan, &measured, MEAN);
    let duration = duration.unwrap_or_default();
    Ok(Repetition::new(duration, settings.seeds, CLAIMS, &measured, [part]))
}

/// Measures a run.
fn measure(measured: &mut Measurements, scheduler: &str, summary: &Summary) {
    let misses: u64 = summary.hops[0].classes.iter().map(|class| class.deadline_misses).sum();
    measured.add(MISSES, scheduler, misses as f64);
    for class in &summary.hops[0].classes {
        let delay = class.delay_ns.as_ref();
        let [mean, largest] = delay.map_or([f64::NAN; 2], |delay| [delay.mean, delay.max as f64]);
        let of = format!("{scheduler}, {}", class.name);
        measured.add(MEAN, &of, mean);
        measured.add(LARGEST, &of, largest);
        if scheduler == STANDARD {
            measured.add(STANDARD_MEAN, &class.name, mean / 1e6);
            measured.add(STANDARD_LARGEST, &class.name, largest / 1e6);
        }
    }
}

/// Compares best effort under a scheduler with the standard scheme and with two lines, by seed.
fn compare(measured: &mut Measurements, scheduler: &str) {
    let percents = |measured: &Measurements, class: &str, than: &str| -> Vec<f64> {
        let means = |scheduler| measured.values(MEAN, &format!("{scheduler}, {class}"));
        let pairs = means(scheduler).iter().zip(means(than));
        pairs.map(|(ours, other)| ours / other * 100.0).collect()
    };
    for class in BEST_EFFORT {
        for percent in percents(measured, class, TWO_LINES) {
            measured.add(OF_TWO_LINES, &format!("{scheduler}, {class}"), percent);
        }
    }
    let classes = BEST_EFFORT.map(|class| percents(measured, class, STANDARD));
    for seed in 0..classes[0].len() {
        let mean = classes.iter().map(|percents| percents[seed]).sum::<f64>() / 3.0;
        let of = format!("{scheduler}, mean of {}", BEST_EFFORT.join(", "));
        measured.add(OF_STANDARD, &of, mean);
    }
}

fn simulate(
    plan: &Plan,
    scheduler: &str,
    seed: u64,
    duration: Option<Nanos>,
    observer: &mut dyn Observer,
) -> Result<Summary, SimError> {
    let plan = &plan.clone().under(scheduler).expect("these schedulers exist");
    let run = Run { plan, duration, seed, feeds: vec![] };
    Ok(run.with_sources()?.simulate(observer, &mut laxity_sim::to_the_end)?.summary)
}

/// Adds a table like the paper's: delays of classes by schemes, also in percent of the standard
/// scheme; means over the seeds.
fn delays(part: Part, heading: &str, plan: &Plan, measured: &Measurements, what: &str) -> Part {
    let rows = plan.classes.iter().map(|class| {
        let millis = SCHEDULERS
            .map(|scheduler| measured.mean(what, &format!("{scheduler}, {}", class.name)) / 1e6);
        let cells = millis.map(|ms| format!("{ms:.2} / {:.0} %", ms / millis[0] * 100.0));
        [class.name.clone()].into_iter().chain(cells).collect()
    });
    let heading = format!("{heading}, mean of the seeds / in % of the standard scheme");
    part.table(heading, &[&["flow"], &COLUMNS[..]].concat(), rows)
}

fn figures(plan: &Plan) -> Result<Part, SimError> {
    let mut traces = Vec::new();
    for (scheduler, column) in SCHEDULERS.into_iter().zip(COLUMNS).filter(|(s, _)| in_figures(s)) {
        let mut trace = Trace::new(plan);
        let end = TRACE_START + FIGURE_4;
        simulate(plan, scheduler, 1, Some(end), &mut trace)?;
        for (subject, packets) in trace.packets.into_iter().enumerate() {
            let name = format!("{}, {column}", TRACED[subject]);
            traces.push(PacketDelays { name, subject, packets });
        }
    }
    let excerpt = |trace: &PacketDelays| {
        let shown = TRACE_START.0..(TRACE_START + FIGURE_5).0;
        let packets = trace.packets.iter().copied().filter(|(at, _)| shown.contains(at));
        PacketDelays { packets: packets.collect(), ..trace.clone() }
    };
    let excerpts: Vec<_> = traces.iter().map(excerpt).collect();
    let drawn = |title, traces| packet_delays(title, traces, TRACED.len()).svg();
    let mut part = Part::default()
        .figure("figure-4", drawn("Delays of two flows", &traces))
        .figure("figure-5", drawn("Delays of two flows, an excerpt", &excerpts));
    for (name, until) in [("figure-8", 100_000_000), ("figure-8-whole", 600_000_000)] {
        if let Some(figure) = edf::residual_capacity(plan, Nanos(until)) {
            part = part.figure(name, curves(&figure).svg());
        }
    }
    Ok(part)
}

/// Figures 4 and 5 show the paper's three schemes, and exact.
fn in_figures(scheduler: &str) -> bool {
    scheduler != "edf/two-line-fast"
}

/// Keeps the delays of the traced classes' packets from [`TRACE_START`] on.
struct Trace {
    classes: [Option<ClassId>; TRACED.len()],
    packets: [Vec<(u64, u64)>; TRACED.len()],
}

impl Trace {
    fn new(plan: &Plan) -> Trace {
        Trace { classes: TRACED.map(|name| plan.class(name)), packets: Default::default() }
    }
}

impl Observer for Trace {
    fn record(&mut self, record: &Record) {
        let Fate::Sent { departure, .. } = record.fate else { return };
        let traced = self.classes.iter().position(|class| *class == Some(record.packet.class));
        if let (Some(index), true) = (traced, departure >= TRACE_START) {
            let delay = departure - record.packet.arrival;
            self.packets[index].push((departure.0, delay.0));
        }
    }
}
