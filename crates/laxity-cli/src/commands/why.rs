//! `laxity why`: what delayed packets, cause by cause, and what would have changed that.

use std::path::Path;

use laxity_api::why::{Change, Packets, class_named, why};
use laxity_api::{Plan, Traffic};
use laxity_plan::edit::{self, Draft};

use crate::args::Why;
use crate::failure::Failure;
use crate::progress::Simulating;
use crate::{Promises, input, show, traffic};

/// Carries the command out.
pub(crate) fn run(arguments: &Why) -> Result<Promises, Failure> {
    let arrivals = arguments.arrivals.as_deref();
    let (plan, text) =
        input::plan_with_text(&arguments.plan, arrivals, &traffic::kinds(&arguments.scheduler))?;
    let plan = traffic::sorted(plan, arrivals, arguments.sort)?;
    // Every run reads it, and in a network every source.
    input::keep(arrivals)?;
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
    let changes = changes(arguments, &plan, &text)?;
    let duration = traffic.duration(&plan)?;
    let result = Simulating::one(&plan, duration, |progress| {
        why(&plan, &traffic, &packets, &changes, progress)
    })?;
    show(arguments.json, &result, || result.text())?;
    Ok(Promises::Kept)
}

/// The changes that are asked for.
fn changes(arguments: &Why, plan: &Plan, text: &str) -> Result<Vec<Change>, Failure> {
    let without = arguments.without.iter().map(|class| {
        let without = vec![class_named(plan, class)?];
        Ok(Change { name: format!("without {class}"), plan: plan.clone(), without })
    });
    let with = arguments.with.iter().map(|change| {
        let plan = changed(arguments, plan, text, change)?;
        Ok(Change { name: change.clone(), plan, without: Vec::new() })
    });
    let under = arguments.scheduler.iter().map(|name| {
        let plan = traffic::under(plan.clone(), Some(name))?;
        Ok(Change { name: name.clone(), plan, without: Vec::new() })
    });
    without.chain(with).chain(under).collect()
}

/// The plan with another value at a key.
fn changed(arguments: &Why, plan: &Plan, text: &str, change: &str) -> Result<Plan, Failure> {
    let refused = |error: edit::EditError| Failure::input(format!("--with {change}: {error}"));
    let (key, value) = change.split_once('=').ok_or_else(|| {
        Failure::input(format!("--with {change}: write KEY=VALUE, such as link.rate=12mbit"))
    })?;
    let name = input::shown(&arguments.plan);
    let mut draft = Draft::parse(text, &name)?;
    let key: edit::Path = key.trim().parse().map_err(refused)?;
    let value = value.trim();
    let set = draft.set(&key, value);
    match set {
        // A word without quotes is what the plan has in quotes.
        Err(edit::EditError::NoValue(_)) => draft.set(&key, &format!("{value:?}")),
        set => set,
    }
    .map_err(refused)?;
    let folder = arguments.plan.parent().unwrap_or(Path::new(""));
    let changed = Plan::parse(&draft.text(), &format!("{name} with {change}"), folder)?;
    let is_alike = changed.classes.len() == plan.classes.len()
        && changed.classes.iter().zip(&plan.classes).all(|(one, other)| one.name == other.name);
    if is_alike {
        traffic::sorted(changed, arguments.arrivals.as_deref(), arguments.sort)
    } else {
        Err(Failure::input(format!("--with {change}: the plan is to keep its classes")))
    }
}
