//! `laxity check`: what a plan promises, proved, and on request what happens at the worst.

mod streams;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use laxity_answers::network::Limits;
use laxity_api::breakdown::{Breakdowns, breakdown};
use laxity_api::{
    CheckResult, Effort, Json, Plan, Traffic, WorstCases, check, check_for_linux, exactly, limits,
    on_all_cores, worst_case,
};
use laxity_plan::discipline::Kind;
use laxity_report::network;
use serde::Serialize;

use crate::args::{Check, Target};
use crate::failure::Failure;
use crate::input::Inputs;
use crate::progress::Simulating;
use crate::{Promises, input, progress, show, traffic};

/// Carries the command out.
pub(crate) fn run(arguments: &Check) -> Result<Promises, Failure> {
    if let Some(file) = &arguments.streams {
        return streams::run(arguments, file);
    }
    let plan = input::plan_for(&arguments.plan, None, &Kind::known(&arguments.scheduler))?;
    let plan = traffic::under(plan, arguments.scheduler.as_deref())?;
    if arguments.target == Some(Target::Linux) {
        let checked = check_for_linux(&plan, &arguments.kernel.linux())
            .map_err(|refusal| Failure::from(&refusal))?;
        show(arguments.json, &checked, || checked.text())?;
        return Ok(Promises::kept_if(checked.checked.admitted() != Some(false)));
    }
    if arguments.kernel.is_said() {
        return Err(Failure::input(
            "--timer, --offload and --filters are about a kernel: add --for linux",
        ));
    }
    let plan = if arguments.exact { exactly(plan) } else { plan };
    let checked = on_all_cores(|| check(&plan))?;
    let explained = explained(arguments, &plan)?;
    let limited = || progress::during("links and classes", |heard| limits(&plan, heard));
    let limits = arguments.limits.then(limited).transpose()?;
    let effort = Effort { packets: arguments.packets, seed: arguments.seed };
    let searched =
        || progress::during("classes and paths", |heard| worst_case(&plan, effort, heard));
    let worst = arguments.worst_case.then(searched).transpose()?;
    let files = match (&worst, &arguments.out) {
        (Some(worst), Some(folder)) => write(arguments, &plan, worst, folder)?,
        _ => Vec::new(),
    };
    let (limits, worst_case) = (limits.as_ref(), worst.as_ref());
    let explained = explained.as_ref();
    let answer = Answer { checked: &checked, explained, limits: limits.map(Json), worst_case };
    show(arguments.json, &answer, || {
        let explained = explained.map(|explained| format!("\n{}", explained.text()));
        let limits = limits.map(|limits| format!("\n{}", network::limits::text(limits)));
        let worst = worst_case.map(|worst| format!("\n{}", worst.text()));
        let parts = explained.into_iter().chain(limits).chain(worst).chain(files);
        checked.text(&plan) + &parts.collect::<String>()
    })?;
    Ok(Promises::kept_if(checked.admitted() != Some(false)))
}

/// What is proved and, if it was asked for, what was found.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    checked: &'a CheckResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    explained: Option<&'a Breakdowns<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<Json<'a, Limits>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worst_case: Option<&'a WorstCases>,
}

/// What the bounds of those classes are made of that are asked for; `None` if none is.
fn explained<'a>(arguments: &Check, plan: &'a Plan) -> Result<Option<Breakdowns<'a>>, Failure> {
    if arguments.explain.is_empty() {
        return Ok(None);
    }
    let traffic = Traffic { duration: arguments.duration, ..Traffic::default() };
    let duration = traffic.duration(plan)?;
    let explained = Simulating::one(plan, duration, |progress| {
        breakdown(plan, &arguments.explain, &traffic, progress)
    });
    Ok(Some(explained?))
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
        format!("Report: {}\n", folder.join(REPORT).display()),
        format!(
            "Again:  laxity run {} --arrivals {}\n",
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
