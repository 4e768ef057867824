//! `laxity check`: what a plan promises, proved.

use laxity_api::{check, exactly};

use crate::args::Check;
use crate::failure::Failure;
use crate::{Promises, input, print, print_json, traffic};

/// Carries the command out.
pub fn run(arguments: &Check) -> Result<Promises, Failure> {
    let plan = input::plan(&arguments.plan, None)?;
    let plan = traffic::under(plan, arguments.scheduler.as_deref())?;
    let plan = if arguments.exact { exactly(plan) } else { plan };
    let checked = check(&plan)?;
    if arguments.json {
        print_json(&checked)?;
    } else {
        print(&checked.text(&plan))?;
    }
    Ok(Promises::kept_if(checked.admitted() != Some(false)))
}
