//! The experiments of Stoica, Zhang and Ng (2000): Figures 2, 3, 4 and 10 to 13.

mod conflict;
mod cost;
mod decoupling;
mod delay;
mod punishment;
mod sced;
mod service;
mod sharing;
mod system;

use laxity_plan::Plan;
use laxity_sim::error::SimError;

use super::claims::{Claims, Measured};
use super::{Findings, Settings};

const DELAY: &str = include_str!("../../../../papers/hfsc/plan.toml");
const LINK_SHARING: &str = include_str!("../../../../papers/hfsc/link-sharing.toml");
const DECOUPLING: &str = include_str!("../../../../papers/hfsc/decoupling.toml");
const PUNISHMENT: &str = include_str!("../../../../papers/hfsc/punishment.toml");
const CONFLICT: &str = include_str!("../../../../papers/hfsc/conflict.toml");
const CLAIMS: &str = include_str!("../../../../papers/hfsc/claims.toml");

/// What an experiment shows beside what it measures.
struct Part {
    figures: Vec<(String, String)>,
    tables: Vec<(String, String)>,
}

/// Called once for every run that is done.
type Step<'a> = &'a (dyn Fn() + Sync);

/// Repeats the experiments. The worked examples last as long as their plans say; times are taken
/// when everything else is done.
pub fn repeat(settings: &Settings<'_>) -> Result<Findings, SimError> {
    let &Settings { seeds, duration, progress } = settings;
    let runs = decoupling::runs()
        + punishment::runs()
        + conflict::runs()
        + delay::runs(seeds)
        + sharing::runs(seeds)
        + cost::runs();
    let step = || progress(runs);
    let measured = &mut Measured::default();
    let parts = [
        decoupling::repeat(seeds, &step, measured)?,
        punishment::repeat(&step, measured)?,
        conflict::repeat(&step, measured)?,
        delay::repeat(seeds, duration, &step, measured)?,
        sharing::repeat(seeds, duration, &step, measured)?,
        cost::repeat(duration.is_some(), &step, measured)?,
    ];
    let claims: Claims = toml::from_str(CLAIMS).expect("the paper's claims are valid");
    let mut findings = Findings {
        duration: duration.or(read(DELAY).run.duration).unwrap_or_default(),
        verdicts: claims.judge(measured),
        figures: Vec::new(),
        tables: Vec::new(),
    };
    for part in parts {
        findings.figures.extend(part.figures);
        findings.tables.extend(part.tables);
    }
    Ok(findings)
}

fn read(plan: &str) -> Plan {
    Plan::parse(plan, "plan.toml", ".".as_ref()).expect("the paper's plans are valid")
}
