//! `laxity why`: what delayed packets, cause by cause, and what would have changed that.

use std::fs;
use std::path::Path;

use laxity_api::why::{Change, Packets, PlanSource, WhyResult, why};
use laxity_api::{Plan, Traffic};
use laxity_plan::discipline::Kind;

use crate::args::Why;
use crate::failure::Failure;
use crate::input::Inputs;
use crate::progress::Simulating;
use crate::{Promises, input, show, traffic};

/// How many changes are proposed.
const PROPOSED: usize = 3;

/// Carries the command out.
pub(crate) fn run(arguments: &Why) -> Result<Promises, Failure> {
    let arrivals = arguments.arrivals.as_deref();
    let kinds =
        if arguments.propose { Kind::ALL.to_vec() } else { traffic::kinds(&arguments.scheduler) };
    let (plan, text) = input::plan_with_text(&arguments.plan, arrivals, &kinds)?;
    let plan = traffic::sorted(plan, arrivals, arguments.sort)?;
    let changes = changes(arguments, &plan, &text, &kinds)?;
    if plan.network.is_some() || !changes.is_empty() {
        // Every run reads it, and in a network every source.
        input::keep(arrivals)?;
    }
    let opener = traffic::opener(arrivals, arguments.sort);
    let traffic = Traffic {
        duration: arguments.duration,
        seed: arguments.seed,
        arrivals: opener.as_deref(),
        ..Traffic::default()
    };
    let packets = Packets {
        class: arguments.class.clone(),
        number: arguments.packet,
        slower_than: arguments.slower_than,
        missed: arguments.missed,
        most: arguments.slowest as usize,
    };
    let duration = traffic.duration(&plan)?;
    let mut result = Simulating::one(&plan, duration, |progress| {
        why(&plan, &traffic, &packets, &changes, progress)
    })?;
    if arguments.propose {
        result.keep_best(PROPOSED);
    }
    let figures = match &arguments.out {
        Some(folder) => figures(arguments, &plan, &result, folder)?,
        None => String::new(),
    };
    show(arguments.json, &result, || result.text() + &figures)?;
    Ok(Promises::Kept)
}

/// Writes the figures into a folder, and says where they are.
fn figures(
    arguments: &Why,
    plan: &Plan,
    result: &WhyResult<'_>,
    folder: &Path,
) -> Result<String, Failure> {
    let files = result.figures();
    let names: Vec<_> = files.iter().map(|drawn| format!("{}.svg", drawn.name)).collect();
    let inputs = Inputs::new(&arguments.plan, plan, arguments.arrivals.as_deref());
    inputs.spares(folder, names.iter().map(String::as_str))?;
    let refused = |error| Failure::unwritable(folder, &error);
    fs::create_dir_all(folder).map_err(refused)?;
    for (drawn, name) in files.iter().zip(&names) {
        fs::write(folder.join(name), drawn.figure.svg()).map_err(refused)?;
    }
    let paths = names.iter().map(|name| folder.join(name).display().to_string());
    Ok(format!("\nFigures: {}\n", paths.collect::<Vec<_>>().join(", ")))
}

/// The changes that are asked for.
fn changes(
    arguments: &Why,
    plan: &Plan,
    text: &str,
    others: &[Kind],
) -> Result<Vec<Change>, Failure> {
    let name = input::shown(&arguments.plan);
    let folder = arguments.plan.parent().unwrap_or(Path::new(""));
    let source = PlanSource { text, name: &name, folder, others, under: None };
    if arguments.propose {
        return Ok(Change::proposals(plan, source, arguments.class.as_deref()));
    }
    let without = arguments.without.iter().map(|class| Ok(Change::without(plan, class)?));
    let with = arguments.with.iter().map(|change| {
        let (key, value) = change.split_once('=').ok_or_else(|| {
            Failure::input(format!("--with {change}: write KEY=VALUE, such as link.rate=12mbit"))
        })?;
        Ok(Change::with_value(plan, source, key.trim(), value.trim())?)
    });
    let under = arguments.scheduler.iter().map(|name| Ok(Change::under(plan, name)?));
    without.chain(with).chain(under).collect()
}
