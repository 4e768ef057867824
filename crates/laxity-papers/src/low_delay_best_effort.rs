//! The experiment of Chakraborty, Gries and Thiele (2002): Tables 1 and 2, Figures 4, 5 and 8.

mod claims;

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_sim::error::SimError;
use laxity_sim::link::Run;
use laxity_sim::record::{Fate, Observer, Record};
use laxity_sim::summary::{DelaySummary, Summary};
use rayon::prelude::*;

use self::claims::{Claims, Runs, STANDARD, each, mean};
use crate::experiment::{Findings, Settings};
use laxity_report::admission::curves::curves;
use laxity_report::admission::edf;
use laxity_report::figures::{PacketDelays, packet_delays};
use laxity_report::table;

const PLAN: &str = include_str!("../../../papers/low-delay-best-effort/plan.toml");
const CLAIMS: &str = include_str!("../../../papers/low-delay-best-effort/claims.toml");

/// The paper's three columns, two that it could have had, and Algorithm 3.
const SCHEDULERS: [&str; 5] =
    [STANDARD, "edf/shifted-line", "edf/two-line", "edf/two-line-fast", "edf/exact"];
/// What the paper's tables call them.
const COLUMNS: [&str; 5] = ["standard", "shifted line", "two lines", "Algorithm 3", "exact"];

/// The paper's traces show one real-time and one best-effort flow.
const TRACED: [&str; 2] = ["video", "ftp"];
/// From when on Figures 4 and 5 show packets, and for how long each.
const TRACE_START: Nanos = Nanos(10_000_000_000);
const FIGURE_4: Nanos = Nanos(10_000_000_000);
const FIGURE_5: Nanos = Nanos(500_000_000);

/// Repeats the experiment.
pub(crate) fn repeat(settings: &Settings<'_>) -> Result<Findings, SimError> {
    let plan = Plan::parse(PLAN, "plan.toml", ".".as_ref()).expect("the paper's plan is valid");
    let claims: Claims = toml::from_str(CLAIMS).expect("the paper's claims are valid");
    let duration = settings.duration.or(plan.run.duration);
    let jobs: Vec<_> = SCHEDULERS
        .iter()
        .flat_map(|&scheduler| (1..=settings.seeds).map(move |seed| (scheduler, seed)))
        .collect();
    let done = jobs.par_iter().map(|&(scheduler, seed)| {
        let run = simulate(&plan, scheduler, seed, duration, &mut ());
        (settings.progress)(jobs.len() as u64);
        run.map(|summary| (scheduler, summary))
    });
    let mut runs = Runs::new();
    for (scheduler, summary) in done.collect::<Result<Vec<_>, _>>()? {
        runs.entry(scheduler).or_default().push(summary);
    }
    Ok(Findings {
        duration: duration.unwrap_or_default(),
        seeds: settings.seeds,
        verdicts: claims.judge(&runs),
        figures: figures(&plan)?,
        tables: vec![
            delay_table("Table 1: largest delay [ms]", &plan, &runs, |delay| delay.max as f64),
            delay_table("Table 2: mean delay [ms]", &plan, &runs, |delay| delay.mean),
        ],
    })
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

/// A table as the paper has it: classes by schemes, each figure also in percent of the standard
/// scheme; means over the seeds.
fn delay_table(
    heading: &str,
    plan: &Plan,
    runs: &Runs,
    statistic: impl Fn(&DelaySummary) -> f64,
) -> (String, String) {
    let rows = plan.classes.iter().map(|class| {
        let millis = SCHEDULERS.map(|scheduler| {
            mean(each(runs, scheduler, &class.name, &statistic).into_iter()) / 1e6
        });
        let cells = millis.map(|ms| format!("{ms:.2} / {:.0} %", ms / millis[0] * 100.0));
        [class.name.clone()].into_iter().chain(cells).collect()
    });
    let header = [&["flow"], &COLUMNS[..]].concat();
    (
        format!("{heading}, mean of the seeds / in % of the standard scheme"),
        table::table(&header, &rows.collect::<Vec<_>>()),
    )
}

fn figures(plan: &Plan) -> Result<Vec<(String, String)>, SimError> {
    let mut traces = Vec::new();
    for (scheduler, column) in SCHEDULERS.into_iter().zip(COLUMNS).filter(|(s, _)| in_figures(s)) {
        let mut trace = Trace::of(plan);
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
    let mut figures = vec![
        ("figure-4".to_string(), packet_delays("Delays of two flows", &traces, TRACED.len()).svg()),
        (
            "figure-5".to_string(),
            packet_delays("Delays of two flows, an excerpt", &excerpts, TRACED.len()).svg(),
        ),
    ];
    for (name, until) in [("figure-8", 100_000_000), ("figure-8-whole", 600_000_000)] {
        if let Some(figure) = edf::residual_capacity(plan, Nanos(until)) {
            figures.push((name.to_string(), curves(&figure).svg()));
        }
    }
    Ok(figures)
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
    fn of(plan: &Plan) -> Trace {
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
