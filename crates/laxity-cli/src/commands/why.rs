//! `laxity why`: what delayed packets, cause by cause, and what would have changed that.

use std::path::Path;

use laxity_api::why::{Change, Packets, PlanSource, propose, why};
use laxity_api::{Plan, Traffic};
use laxity_plan::discipline::Kind;

use crate::args::Why;
use crate::failure::Failure;
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
    let packets = Packets {
        class: arguments.class.clone(),
        number: arguments.packet,
        slower_than: arguments.slower_than,
        missed: arguments.missed,
        most: arguments.slowest as usize,
    };
    let duration = traffic.duration(&plan)?;
    let result = Simulating::one(&plan, duration, |progress| {
        if arguments.propose {
            propose(&plan, source, &traffic, &packets, PROPOSED, progress)
        } else {
            why(&plan, &traffic, &packets, &changes, progress)
        }
    })?;
    show(arguments.json, &result, || result.text())?;
    Ok(Promises::Kept)
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
