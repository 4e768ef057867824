//! `laxity why`: what delayed packets, cause by cause, and what would have changed that.

mod ledger;
mod stored;
#[cfg(target_os = "linux")]
mod watched;

use std::fs;
use std::path::Path;

use laxity_api::why::{
    Change, Packets, PlanSource, Proposals, Question, WhyResult, is_ledger, why,
};
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
    let path = &arguments.plan;
    #[cfg(target_os = "linux")]
    if let (Some(before), Some(behind)) = (&arguments.before, &arguments.behind) {
        return watched::run(arguments, [before, behind]);
    }
    if input::is_stdin(path) {
        return of_plan(arguments);
    }
    match stored::manifest(path)? {
        Some(manifest) => stored::run(arguments, &manifest),
        None if is_ledger(path) => ledger::run(arguments),
        None => of_plan(arguments),
    }
}

/// Simulates a plan.
fn of_plan(arguments: &Why) -> Result<Promises, Failure> {
    let arrivals = arguments.arrivals.as_deref();
    let kinds = kinds(arguments);
    let (plan, text) = input::plan_with_text(&arguments.plan, arrivals, &kinds)?;
    let plan = traffic::sorted(plan, arrivals, arguments.sort)?;
    let name = input::shown(&arguments.plan);
    let folder = arguments.plan.parent().unwrap_or(Path::new(""));
    let source = PlanSource { text: &text, name: &name, folder, others: &kinds, under: None };
    let changes = changes(arguments, &plan, source)?;
    if plan.network.is_some() || !changes.is_empty() || arguments.propose {
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
    let packets = packets(arguments);
    let duration = traffic.duration(&plan)?;
    let question = question(arguments, &packets, &changes, source);
    let result =
        Simulating::one(&plan, duration, |progress| why(&plan, &traffic, question, progress))?;
    answer(arguments, result)
}

/// The disciplines that the plan may be put under.
fn kinds(arguments: &Why) -> Vec<Kind> {
    if arguments.propose { Kind::ALL.to_vec() } else { Kind::known(&arguments.scheduler) }
}

/// The packets that are asked for.
fn packets(arguments: &Why) -> Packets {
    Packets {
        class: arguments.class.clone(),
        number: arguments.packet,
        slower_than: arguments.slower_than,
        missed: arguments.missed,
        most: arguments.slowest as usize,
    }
}

/// Writes the page and the figures into a folder, and says where they are.
fn draw(arguments: &Why, result: &WhyResult<'_>, folder: &Path) -> Result<String, Failure> {
    let drawn = result.figures().into_iter();
    let figures = drawn.map(|drawn| (format!("{}.svg", drawn.name), drawn.figure.svg()));
    let page = result.page().map(|page| ("why.html".to_string(), page));
    let files: Vec<_> = page.into_iter().chain(figures).collect();
    let inputs = Inputs::new(&arguments.plan, result.plan, arguments.arrivals.as_deref());
    inputs.spares(folder, files.iter().map(|(name, _)| name.as_str()))?;
    let refused = |error| Failure::unwritable(folder, &error);
    fs::create_dir_all(folder).map_err(refused)?;
    for (name, content) in &files {
        fs::write(folder.join(name), content).map_err(refused)?;
    }
    let paths = files.iter().map(|(name, _)| folder.join(name).display().to_string());
    Ok(format!("\nDrawn: {}\n", paths.collect::<Vec<_>>().join(", ")))
}

/// The changes that are asked for.
fn changes(arguments: &Why, plan: &Plan, source: PlanSource<'_>) -> Result<Vec<Change>, Failure> {
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

/// What is asked.
fn question<'a>(
    arguments: &Why,
    packets: &'a Packets,
    changes: &'a [Change],
    source: PlanSource<'a>,
) -> Question<'a> {
    let proposals = arguments.propose.then_some(Proposals { source, most: PROPOSED });
    Question { packets, changes, proposals, is_drawn: arguments.out.is_some() }
}

/// Refuses options that say which traffic is simulated, where `what` has its own.
fn refuse_traffic(arguments: &Why, what: &str) -> Result<(), Failure> {
    let options = [
        ("--duration", arguments.duration.is_some()),
        ("--seed", arguments.seed.is_some()),
        ("--arrivals", arguments.arrivals.is_some()),
        ("--sort", arguments.sort),
    ];
    match options.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => {
            let path = arguments.plan.display();
            Err(Failure::input(format!("{path}: {what} has its own traffic: leave {option} out")))
        }
        None => Ok(()),
    }
}

/// Shows the answer, and draws it.
fn answer(arguments: &Why, result: WhyResult<'_>) -> Result<Promises, Failure> {
    let drawn = match &arguments.out {
        Some(folder) => draw(arguments, &result, folder)?,
        None => String::new(),
    };
    show(arguments.json, &result, || result.text() + &drawn)?;
    Ok(Promises::Kept)
}
