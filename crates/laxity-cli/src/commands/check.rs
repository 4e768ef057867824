//! `laxity check`: what a plan promises, proved.

use laxity_api::{check, check_for_linux, exactly};

use crate::args::{Check, Target};
use crate::failure::Failure;
use crate::{Promises, input, print, print_json, traffic};

/// Carries the command out.
pub fn run(arguments: &Check) -> Result<Promises, Failure> {
    let plan = input::plan(&arguments.plan, None)?;
    let plan = traffic::under(plan, arguments.scheduler.as_deref())?;
    if arguments.target == Some(Target::Linux) {
        let checked = check_for_linux(&plan, &arguments.kernel.linux())
            .map_err(|refusal| Failure::from(&refusal))?;
        if arguments.json {
            print_json(&checked)?;
        } else {
            print(&checked.text())?;
        }
        return Ok(Promises::kept_if(checked.checked.admitted() != Some(false)));
    }
    if arguments.kernel.is_said() {
        return Err(Failure::input(
            "--timer, --offload and --filters are about a kernel: add --for linux",
        ));
    }
    let plan = if arguments.exact { exactly(plan) } else { plan };
    let checked = check(&plan)?;
    if arguments.json {
        print_json(&checked)?;
    } else {
        print(&checked.text(&plan))?;
    }
    Ok(Promises::kept_if(checked.admitted() != Some(false)))
}
