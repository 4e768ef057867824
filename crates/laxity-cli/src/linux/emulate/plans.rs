//! The plans of an emulated link.

use std::path::Path;

use laxity_live::process::PlanText;
use laxity_plan::Plan;
use laxity_plan::edit::{self, Draft, EditError};

use crate::args::Emulate;
use crate::failure::Failure;
use crate::input;
use crate::linux::forwarding;

/// Reads the plan of each way.
pub(super) fn read(arguments: &Emulate) -> Result<[PlanText; 2], Failure> {
    let plan = forwarding::read(&arguments.plan)?;
    let back = match &arguments.back {
        Some(path) => forwarding::read(path)?,
        // The same losses in both directions would be no accident.
        None => with_seed(&plan, plan.plan.run.seed.wrapping_add(1))?,
    };
    Ok([emulated(plan)?, emulated(back)?])
}

/// A plan whose link has a wire, if only one that does nothing.
fn emulated(plan: PlanText) -> Result<PlanText, Failure> {
    if plan.plan.network.is_some() {
        return Err(Failure::input(format!(
            "{}: the plan is of a network, and a command is run behind one link: take out `[network]`, and write \
             `delay`, `loss` and the like in `[link]`",
            input::shown(&plan.path)
        )));
    }
    if plan.plan.link.wire.is_some() {
        return Ok(plan);
    }
    let mut draft = draft(&plan)?;
    draft.set(&edit::Path::new(["link", "delay"]), "\"0s\"").map_err(Failure::input)?;
    parse(&plan, draft.text())
}

fn with_seed(plan: &PlanText, seed: u64) -> Result<PlanText, Failure> {
    let mut draft = draft(plan)?;
    let text = match draft.set(&edit::Path::new(["run", "seed"]), &seed.to_string()) {
        Ok(()) => draft.text(),
        Err(EditError::NoTable { .. }) => format!("{}\n[run]\nseed = {seed}\n", draft.text()),
        Err(error) => return Err(Failure::input(error)),
    };
    parse(plan, text)
}

fn draft(plan: &PlanText) -> Result<Draft, Failure> {
    Ok(Draft::parse(&plan.text, &input::shown(&plan.path))?)
}

/// The plan of a changed text.
fn parse(before: &PlanText, text: String) -> Result<PlanText, Failure> {
    let folder = before.path.parent().unwrap_or(Path::new(""));
    let plan = Plan::parse(&text, &input::shown(&before.path), folder)?;
    Ok(PlanText { path: before.path.clone(), plan, text })
}
