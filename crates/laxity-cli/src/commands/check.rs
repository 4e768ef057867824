//! `laxity check`: what a plan promises, proved, and on request what happens at the worst.

use std::collections::HashMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use indicatif::ProgressBar;
use laxity_answers::network::Limits;
use laxity_api::sweep::StudyProgress;
use laxity_api::{
    CheckResult, Effort, Json, Plan, WorstCases, check, check_for_linux, exactly, limits,
    on_all_cores, worst_case,
};
use laxity_report::network;
use serde::Serialize;

use crate::args::{Check, Target};
use crate::failure::Failure;
use crate::input::Inputs;
use crate::{Promises, input, print, print_json, progress, traffic};

/// Carries the command out.
pub(crate) fn run(arguments: &Check) -> Result<Promises, Failure> {
    let plan = input::plan_for(&arguments.plan, None, &traffic::kinds(&arguments.scheduler))?;
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
    let checked = on_all_cores(|| check(&plan))?;
    let limits = if arguments.limits { Some(limited(&plan)?) } else { None };
    let worst = if arguments.worst_case { Some(searched(arguments, &plan)?) } else { None };
    let files = match (&worst, &arguments.out) {
        (Some(worst), Some(folder)) => write(arguments, &plan, worst, folder)?,
        _ => Vec::new(),
    };
    if arguments.json {
        print_json(&Answer {
            checked: &checked,
            limits: limits.as_ref().map(Json),
            worst_case: worst.as_ref(),
        })?;
    } else {
        let mut text = checked.text(&plan);
        if let Some(limits) = &limits {
            text += &format!("\n{}", network::limits::text(limits));
        }
        if let Some(worst) = &worst {
            text += &format!("\n{}", worst.text());
        }
        for file in files {
            text += &format!("{file}\n");
        }
        print(&text)?;
    }
    Ok(Promises::kept_if(checked.admitted() != Some(false)))
}

/// What is proved and, if it was asked for, what was found.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    checked: &'a CheckResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<Json<'a, Limits>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worst_case: Option<&'a WorstCases>,
}

/// What each part could be, found behind a progress bar.
fn limited(plan: &Plan) -> Result<Limits, Failure> {
    let bar = progress::steps("links and classes", 0);
    let found = limits(plan, &|going| shown(&bar, going));
    bar.finish_and_clear();
    Ok(found?)
}

/// Searches behind a progress bar.
fn searched(arguments: &Check, plan: &Plan) -> Result<WorstCases, Failure> {
    let bar = progress::steps("classes and paths", 0);
    let effort = Effort { packets: arguments.packets, seed: arguments.seed };
    let found = worst_case(plan, effort, &|going| shown(&bar, going));
    bar.finish_and_clear();
    Ok(found?)
}

fn shown(bar: &ProgressBar, going: StudyProgress) -> ControlFlow<()> {
    bar.set_length(going.runs as u64);
    bar.set_position(going.done as u64);
    ControlFlow::Continue(())
}

const REPORT: &str = "report.html";

/// Writes a page, and the packets of each class and path. Gives what is said of that.
fn write(
    arguments: &Check,
    plan: &Plan,
    worst: &WorstCases,
    folder: &Path,
) -> Result<Vec<String>, Failure> {
    let names = names(worst);
    let all = || names.iter().map(String::as_str).chain([REPORT]);
    Inputs::new(&arguments.plan, plan, None).spares(folder, all())?;
    let refused = |error| Failure::unwritable(folder, &error);
    fs::create_dir_all(folder).map_err(refused)?;
    for (case, name) in worst.0.iter().zip(&names) {
        fs::write(folder.join(name), case.csv(plan)).map_err(refused)?;
    }
    fs::write(folder.join(REPORT), worst.page(plan)).map_err(refused)?;
    let packets = folder.join(names.first().map_or(REPORT, |name| name));
    Ok(vec![
        format!("Report: {}", folder.join(REPORT).display()),
        format!(
            "Again:  laxity run {} --arrivals {}",
            input::shown(&arguments.plan),
            packets.display()
        ),
    ])
}

/// A file's name for each class and path: that of the class as far as files may be called so, and a
/// number where it has several.
fn names(worst: &WorstCases) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let name = |class: &String| {
        let plain = |c: char| if c.is_alphanumeric() || "-_".contains(c) { c } else { '_' };
        let plain: String = class.chars().map(plain).take(60).collect();
        let number = seen.entry(plain.to_lowercase()).or_default();
        *number += 1;
        if *number == 1 { format!("{plain}.csv") } else { format!("{plain}-{number}.csv") }
    };
    worst.0.iter().map(|case| &case.class).map(name).collect()
}
